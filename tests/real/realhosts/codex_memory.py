"""Codex's own memory, made to consolidate offline: in the background of a session, of threads that were left alone."""

from __future__ import annotations

import json
import shlex
import sqlite3
import time
from contextlib import closing

from realhosts.app_server import AppServer
from realhosts.conversation import until

SETTINGS = """
[features]
memories = true

[memories]
version = "{version}"
extract_model = "scripted-extraction"
consolidation_model = "scripted-consolidation"
min_rollout_idle_hours = 1
"""
DATABASES = {"v1": "memories_1.sqlite", "v2": "memories_v2_1.sqlite"}
FOLDERS = {"v1": "memories", "v2": "memories_v2"}
DIFF = "phase2_workspace_diff.md"
DAY_S = 25 * 3600
DONE_S = 60.0
WAITS = 9
"""How often the agent goes on waiting, up to ten seconds each."""
IN_FILE = "cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE"


class CodexMemory:
    """One version of it, in the home of a Codex that is not running now."""

    def __init__(self, codex, version):
        self.codex = codex
        self.root = codex.folder / FOLDERS[version]
        self.version = version
        self._database = codex.folder / DATABASES[version]
        with (codex.folder / "config.toml").open("a") as config:
            config.write(SETTINGS.format(version=version))

    def say(self, prompt):
        """A thread that may be remembered, which an ``exec`` may not; it was left a day ago."""
        command = [self.codex.program, "app-server", "--disable", "memories"]
        with AppServer(self.codex, command) as session:
            session.say(prompt, {"text": "All right.", "repeat": True})
        with closing(sqlite3.connect(self.codex.folder / "state_5.sqlite")) as threads:
            threads.execute(
                "UPDATE threads SET updated_at = updated_at - ?1, updated_at_ms = updated_at_ms - 1000 * ?1,"
                " recency_at = recency_at - ?1, recency_at_ms = recency_at_ms - 1000 * ?1",
                (DAY_S,),
            )
            threads.commit()

    def consolidate(self, note, files, *, look_for="", meanwhile=lambda: None):
        """Let Codex extract and consolidate: ``note`` is its model's for each thread, ``files`` are what it writes.

        Everything that the consolidation agent was shown is returned: what changed in the workspace, lines of the diff
        that hold ``look_for``, and how extensions are to be read. ``meanwhile`` is done while the agent is at work.
        """
        self._wait_no_longer()
        status = f"sed -n '/^## Status/,/^## Diff/p' {DIFF}"
        lines = f"grep -F {shlex.quote(look_for or 'nothing')} {DIFF} | head -3"
        shown = f"{status}; {lines}; cat extensions/*/instructions.md"
        # The agent waits for a file in its own folder, which is how a test gets its turn. Codex leaves a command alone
        # after ten seconds and asks its model what to do next.
        waits = "while [ -e at_work ] && [ ! -e go_on ]; do sleep 0.1; done"
        write = "rm at_work go_on\n" + "\n".join(IN_FILE.format(path=path, text=text) for path, text in files.items())
        script = [
            {"match": "scripted-extraction", "json": self._fields(note), "repeat": True},
            {"match": "scripted-consolidation", **self.codex.shell(shown)},
            {"match": "scripted-consolidation", **self.codex.shell("touch at_work")},
            *({"match": "scripted-consolidation", **self.codex.shell(waits)} for _ in range(WAITS)),
            {"match": "scripted-consolidation", **self.codex.shell(write)},
            {"match": "scripted-consolidation", "text": "Done.", "repeat": True},
            {"text": "Hello.", "repeat": True},
        ]
        since = int(time.time()) - 1
        asked = self.codex.asked_from_now()
        with AppServer(self.codex, [self.codex.program, "app-server"]) as session:
            session.say("Hello.", *script)
            until((self.root / "at_work").exists, "Codex's consolidation agent", DONE_S)
            try:
                meanwhile()
            finally:
                (self.root / "go_on").touch()
            until(lambda: self._finished(since), "the end of Codex's consolidation", DONE_S)
        return "\n".join(json.dumps(body) for body in asked() if "scripted-consolidation" in json.dumps(body))

    def _fields(self, note):
        fields = {"rollout_summary": f"# {note}\n", "rollout_slug": note}
        return {**fields, "raw_memory": f"### Task 1: {note}\n- {note}\n"} if self.version == "v1" else fields

    def _wait_no_longer(self):
        """Six hours lie between two consolidations."""
        if self._database.exists():
            with closing(sqlite3.connect(self._database)) as jobs:
                jobs.execute("UPDATE jobs SET finished_at = finished_at - ?, retry_at = NULL", (DAY_S,))
                jobs.commit()

    def _finished(self, since):
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as jobs:
            row = jobs.execute(
                "SELECT status, last_error, finished_at FROM jobs WHERE kind = 'memory_consolidate_global'"
            ).fetchone()
        assert row is None or not row[1], row
        return row is not None and row[0] == "done" and (row[2] or 0) >= since
