"""What changed in a memory folder: the product's diff in this process, against git's two commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.memory_files import MemoryFiles
from codexmem_bench.standing_clock import StandingClock
from codexmem_bench.timing import in_pairs, run_quietly
from codexmem_core.consolidate.baseline import Baseline

if TYPE_CHECKING:
    from pathlib import Path

    from codexmem_bench.bench import Bench

DIFF = Figure(
    key="workspace-diff",
    what="diff of 2,000 files, 10 changed, to git add -A && git diff --cached",
    limit=5.0,
    unit=TIMES,
)
FOUND = Figure(key="workspace-diff-found", what="changes that the diff has missed or made up", limit=0)
CHANGED = 10
SETTLE_S = 1.1
"""Files younger than this at the commit would be read again each time, by git and by us."""
GIT_SCRIPT = "git add -A && git diff --cached --stat"


class Folders:
    """The same memory folder twice, one with our baseline, one with git's."""

    def __init__(self, folder: Path, *, files: int, seed: int) -> None:
        self.ours, self.gits = folder / "memories", folder / "git"
        self._clean_index = folder / "index.clean"
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        written = [MemoryFiles(root, files=files, seed=seed) for root in (self.ours, self.gits)]
        time.sleep(SETTLE_S)
        self.baseline = Baseline(str(self.ours), StandingClock())
        self.baseline.ensure()
        self.baseline.commit("baseline")
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        for arguments in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "baseline"), ("status",)):
            self._git(*arguments)
        shutil.copyfile(self._index, self._clean_index)
        first, second = (files.edit(CHANGED) for files in written)
        if first != second:
            raise RuntimeError("the two folders differ")
        self.changes = first

    @property
    def _index(self) -> Path:
        return self.gits / ".git" / "index"

    def put_index_back(self) -> None:
        """As the commit left it, so that git has the same work again."""
        shutil.copyfile(self._clean_index, self._index)

    def git(self) -> None:
        """The yardstick, as whole processes."""
        run_quietly(("/bin/sh", "-c", f'cd "{self.gits}" && {GIT_SCRIPT}'), self.environ)

    def _git(self, *arguments: str) -> None:
        command = ("git", "-C", str(self.gits), *arguments)
        subprocess.run(command, env=self.environ, stdout=subprocess.DEVNULL, check=True)


def measure(bench: Bench) -> dict[str, Value]:
    """The ratio, and whether every edit is in the diff."""
    folders: Folders = bench.once(
        "workspace", lambda folder: Folders(folder, files=bench.sizes.memory_files, seed=bench.seed)
    )
    pairs = in_pairs(folders.baseline.diff, folders.git, rounds=bench.sizes.rounds * 2, before=folders.put_index_back)
    found = {(change.status, change.path) for change in folders.baseline.diff().changes}
    return {
        DIFF.key: Value(number=pairs.ratio, detail=pairs.detail),
        FOUND.key: Value(number=len(found ^ folders.changes), detail=f"of {len(folders.changes)}"),
    }


MEASUREMENT = Measurement(figures=(DIFF, FOUND), measure=measure)
