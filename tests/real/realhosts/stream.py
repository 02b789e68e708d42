"""``claude -p`` that reads its prompts from a stream: the program behind Claude Code's editors."""

from __future__ import annotations

import json

from realhosts.long_session import LongSession


class Stream(LongSession):
    """A session in the project; commands with a slash work as in the terminal."""

    def begin(self):
        """The first prompt begins the session."""

    def turn(self, prompt):
        since = self.printed_so_far()
        self.send({"type": "user", "message": {"role": "user", "content": prompt}})
        self.come(lambda line: json.loads(line)["type"] == "result", since)

    def compact(self):
        """It refuses to before there were two turns."""
        self.turn("/compact")

    def clear(self):
        self.turn("/clear")
