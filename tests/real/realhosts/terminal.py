"""A program in a terminal, typed into as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from contextlib import suppress

from realhosts.conversation import until

ROWS, COLUMNS = 40, 120
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}
"""What programs ask a terminal (where the cursor is, what kind of terminal it is), and what one says."""

STYLES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")
IN_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A running program with a terminal of its own. A context manager; leaving it closes the terminal."""

    def __init__(self, command, environ, cwd):
        self.shown = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", IN_TERMINAL, *map(str, command)],
            env=environ | {"TERM": "xterm-256color"},
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._reader.start()
        return self

    def __exit__(self, *_exception):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        os.close(self._master)

    def until_shown(self, text):
        """Wait until the program shows a text."""
        until(lambda: text in STYLES.sub(b"", self.shown).decode(errors="replace"), f"{text!r} in the terminal")

    def enter(self, text, done):
        """Type a line, and Enter until ``done()``: one that comes right behind the text counts as pasted with it."""
        os.write(self._master, text.encode())

        def entered():
            os.write(self._master, b"\r")
            return done()

        until(entered, f"what {text!r} does", pause_s=1.0)

    def ended(self):
        """Whether the program has ended."""
        return self._process.poll() is not None

    def _read(self):
        with suppress(OSError):  # the terminal ends with the last program in it
            while piece := os.read(self._master, 65536):
                self.shown += piece
                for asked, answer in ANSWERS.items():
                    if asked in piece:
                        os.write(self._master, answer)
