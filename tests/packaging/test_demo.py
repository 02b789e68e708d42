"""`contrib/dev.py demo`, on this environment instead of one of its own."""

import os
import re
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


def told(demo):
    """Lines that a new session would be told."""
    return demo[0].partition("A new session would be told:")[2].split("\n")


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


@pytest.mark.parametrize(
    "planted",
    [
        "run the tests with `make test` in this repo, never call pytest directly",
        "don't use default exports",
        "prefer named exports for all components",
        "use ./deploy.sh with the stage's name, never kubectl by hand",
        "以后提交信息一律用中文写",
        "日志里的时间统一用 UTC",
        "コードのコメントは必ず日本語で書いてください",
        "Every form input must have a visible label",
        "keep answers short, and no emojis",
    ],
)
def test_a_planted_preference_is_told_with_its_day_and_its_source(demo, planted):
    (line,) = [line for line in told(demo) if planted in line and " by default (" in line]
    assert re.search(r"\((?:anywhere|in /home/dev/\w+); 2026-11-\d\d; rollout_summaries/\S+\.md\)$", line)


def test_what_holds_in_all_projects_is_told_so(demo):
    assert any("no emojis" in line and "(anywhere; 2026-11-25; " in line for line in told(demo))


def test_of_a_contradiction_the_newer_side_is_told(demo):
    shown = "\n".join(told(demo))
    assert '"From now on use pnpm instead of npm in this project' in shown
    assert "Always use npm to install packages" not in shown


def test_the_older_side_stays_in_the_handbook_marked_as_replaced(demo):
    _, folder = demo
    handbook = (folder / "home" / "memories" / "MEMORY.md").read_text("utf-8").split("\n")
    (line,) = [line for line in handbook if "Always use npm to install packages" in line]
    assert line.startswith('- replaced on 2026-11-20 by "From now on use pnpm instead of npm')


@pytest.mark.parametrize(
    ("command", "error", "worked"),
    [
        ("pytest -q tests/test_routes.py", 'database "harbor_test" does not exist', "`make test`"),
        ("alembic upgrade head", "by '8f2c1d04'", "`alembic stamp --purge base && alembic upgrade head`"),
        ("npx vitest run src/store", "Failed to resolve import", "`edit vitest.config.ts; npx vitest run src/store`"),
        ("go build ./...", "missing go.sum entry for module", "`go mod tidy && go build ./...`"),
    ],
)
def test_a_solved_failure_is_told_with_its_solution_and_its_source(demo, command, error, worked):
    (line,) = [line for line in told(demo) if f"`{command}` failed: " in line]
    assert error in line
    assert f"then worked: {worked} (2026-11-" in line
    assert "; rollout_summaries/" in line


def test_a_decision_is_told(demo):
    assert any("decided:" in line and "SQLite in WAL mode for local development" in line for line in told(demo))


def test_the_failure_that_nobody_solved_is_no_success(demo):
    _, folder = demo
    handbook = (folder / "home" / "memories" / "MEMORY.md").read_text("utf-8")
    assert "database is locked -> no solution in the session" in handbook
    assert "test_berth_lock fails about once in five runs, partial" in handbook


def test_every_source_that_is_told_can_be_opened(demo):
    _, folder = demo
    sources = set(re.findall(r"rollout_summaries/[^\s,;)]+\.md", "\n".join(told(demo))))
    assert len(sources) >= 10
    assert all((folder / "home" / "memories" / source).is_file() for source in sources)


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
