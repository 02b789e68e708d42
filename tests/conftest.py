"""tests/real runs the agents themselves, and only when it is asked for: ``--real=codex,claude,opencode``."""

from pathlib import Path

REAL = Path(__file__).parent / "real"


def pytest_addoption(parser):
    parser.addoption("--real", default="", metavar="NAMES", help="run tests/real with these agents' programs")


def pytest_ignore_collect(collection_path, config):
    return True if collection_path == REAL and not config.getoption("--real") else None
