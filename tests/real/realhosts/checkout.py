"""A copy of this checkout and a virtual environment, for the lines that README tells a new user to type."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LINE_S = 300.0


class Checkout:
    """The copy, a repository as a clone is one; whatever is installed from it goes into the environment beside it."""

    def __init__(self, place: Path):
        self.folder = place / "codexmem"
        self._programs = place / "environment" / "bin"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")[
            :-1
        ]:
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)  # Codex works in repositories only
        subprocess.run([sys.executable, "-m", "venv", str(self._programs.parent)], check=True, timeout=LINE_S)

    def environ(self, programs, machine):
        """What a user has who activated the environment and has the agents' programs on the path."""
        path = os.pathsep.join([str(self._programs), *map(str, programs), machine["PATH"]])
        return machine | {"PATH": path, "VIRTUAL_ENV": str(self._programs.parent)}

    def type(self, line, environ, *, before=None):
        """Type a line; what it printed."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LINE_S,
            preexec_fn=before,
            check=False,
        )
        assert done.returncode == 0, f"{line}\ngave {done.returncode}:\n{done.stdout}"
        return done.stdout


def lines_for(host):
    """The lines of README's block that installs for a host, sets it up and starts a session."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    (block,) = (block for block in blocks if re.fullmatch(rf".+\ncodexmem setup {host}\b.*\n.+\n", block))
    return block.splitlines()
