"""`contrib/dev.py demo`, on this environment instead of one of its own."""

import os
import subprocess
import sys
import zlib

import pytest

SECRETS = (
    b"ghp_Zx81LmQ0vTr5Yk2Wn9Ba7Uc4Ed6Hf3Jg0PsR",
    b"plum-Tree-4471",
    b"AKIAQ7ORCHARDSAMPLE9",
    b"k3yX9vQe7rTz2LmNp5Ws8Uj1Hd4Fg6Ba0CiOyRt2",
)
SUBAGENTS = (b"quince-report", b"pomegranate-list")


ON_THIS_ENVIRONMENT = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("dev", sys.argv[1])
dev = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dev)
dev.ENVIRONMENT = pathlib.Path(sys.prefix)
dev.prepare = lambda: None
sys.exit(dev.demo([]))
"""


@pytest.fixture(scope="module")
def demo(root, tmp_path_factory):
    """What the demo printed, and the folder that it left."""
    place = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-c", ON_THIS_ENVIRONMENT, str(root / "contrib" / "dev.py")],
        env={**os.environ, "TMPDIR": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, next(place.glob("codexmem-demo-*"))


def left(folder):
    """Every byte that was written below a folder, git's loose objects unpacked."""
    return b"".join(content(path) for path in sorted(folder.rglob("*")) if path.is_file())


def content(path):
    raw = path.read_bytes()
    try:
        return zlib.decompress(raw) if "objects" in path.parts else raw
    except zlib.error:
        return raw


def test_it_ends_with_the_memory_on_screen(demo):
    printed, _ = demo
    shown = printed.partition("A new session would be told:")[2]
    assert "make test" in shown


def test_it_says_where_things_are(demo):
    printed, folder = demo
    assert f"The memory is in {folder / 'home'}; nothing else was touched." in printed
    assert (folder / "home" / "memories" / "memory_summary.md").is_file()


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_of_a_session_is_written_nowhere(demo, secret):
    printed, folder = demo
    assert secret.decode() not in printed
    assert secret not in left(folder)


@pytest.mark.parametrize("word", SUBAGENTS)
def test_what_only_a_subagent_was_told_is_written_nowhere(demo, word):
    printed, folder = demo
    assert word.decode() not in printed
    assert word not in left(folder)


def test_an_instruction_that_a_tool_printed_is_not_remembered(demo):
    printed, folder = demo
    memory = printed.encode() + left(folder / "home" / "memories")
    assert b"tests deleted" not in memory
    assert b"disable TLS verification" not in memory


def test_small_talk_leaves_nothing(demo):
    printed, folder = demo
    memory = printed.encode() + left(folder / "home" / "memories")
    assert b"nice weekend" not in memory
