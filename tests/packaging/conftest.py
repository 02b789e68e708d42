"""The checkout's distributions, and their wheels built once."""

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT, ROOT / "hookspecs", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def projects():
    """By folder, the [project] table of every distribution."""
    return {folder: tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in FOLDERS}


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """A folder with the wheels."""
    target = tmp_path_factory.mktemp("dist")
    builds = [
        subprocess.Popen(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for folder in FOLDERS
    ]
    for build in builds:
        printed, _ = build.communicate(timeout=120)
        assert build.returncode == 0, printed.decode()
    return target


@pytest.fixture(scope="session")
def wheels(dist):
    """By distribution, the wheel as an open zip file."""
    opened = {path.name.split("-")[0].replace("_", "-"): ZipFile(path) for path in sorted(dist.glob("*.whl"))}
    yield opened
    for wheel in opened.values():
        wheel.close()
