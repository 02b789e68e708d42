"""The command of the quality measurement, run once over the recordings and the samples."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Measured:
    """What the command printed and left."""

    status: int
    printed: str
    homes: Path


@pytest.fixture(scope="session")
def quality():
    """Modules of contrib/quality by name."""
    sys.path.insert(0, str(ROOT / "contrib" / "quality"))
    yield lambda name: importlib.import_module(f"codexmem_quality.{name}")
    sys.path.remove(str(ROOT / "contrib" / "quality"))


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    place = tmp_path_factory.mktemp("quality")
    command = [sys.executable, str(ROOT / "contrib" / "quality"), "--keep", str(place)]
    done = subprocess.run(
        [*command, "--locomo", str(HERE / "dialogues.json")], capture_output=True, text=True, check=False
    )
    return Measured(done.returncode, done.stdout + done.stderr, place)


@pytest.fixture(scope="session")
def conversations():
    """By name, what was written to be recorded."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(HERE.glob("conversations/*.toml"))}


@pytest.fixture(scope="session")
def recordings():
    """By name, the records of every recording."""
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in sorted(HERE.glob("*.jsonl"))
    }


@pytest.fixture(scope="session")
def recorded(quality):
    """The set of the recordings, with its labels."""
    return quality("sets").LabelledSet(
        name="recordings", sessions=HERE, labels=HERE / "labels.json", never=HERE / "never.json"
    )


@pytest.fixture
def result(quality, measured, recorded):
    return quality("sets").graded(recorded, measured.homes / "recordings" / "home")
