"""The fault-injecting script itself: a few kills in every run of the tests, many by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def chaos(*arguments):
    script = ROOT / "contrib" / "chaos.py"
    return subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=False, timeout=400
    )


def test_kills_at_seeded_instants_lose_and_double_nothing():
    done = chaos("-n", "10", "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 trials, 0 failed" in done.stdout
    assert "rename:MEMORY.md:before" in done.stdout
    assert "rename:memory_v2.db:before" in done.stdout
    assert "commit:extraction:after" in done.stdout
