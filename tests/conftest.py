"""What tests of several folders ask of processes, and which folders are left out.

tests/real runs the programs themselves, and only when it is asked for: ``--real=codex,claude,opencode,ov``.
"""

from pathlib import Path

import pytest

REAL = Path(__file__).parent / "real"


def pytest_addoption(parser):
    parser.addoption("--real", default="", metavar="NAMES", help="run tests/real with these programs")


def pytest_ignore_collect(collection_path, config):
    return True if collection_path == REAL and not config.getoption("--real") else None


@pytest.fixture
def is_running():
    """Whether a process has not ended; one that ended and was not waited for has."""

    def ask(pid):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):  # the second when it ends between opening and reading
            return False
        return state != "Z"

    return ask
