"""Passes that find nothing new keep what they know ready as a whole; whatever happens next must not hide behind it."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State

TURNS = (("user", "Always run the linter before a commit in this repository."), ("assistant", "I will."))
MORE = (("user", "And never push on a Friday."), ("assistant", "Understood."))
OLD = datetime(2026, 2, 3, 9, tzinfo=UTC)
"""Of a day folder that nobody has written to for most of a year."""


@pytest.fixture
def ids(codex_home):
    """Three sessions on two days long ago, one of them with another for company, and one of yesterday."""
    old = [codex_home(*TURNS, at=OLD), codex_home(*TURNS, at=OLD), codex_home(*TURNS, at=OLD.replace(month=5))]
    return [*old, codex_home(*TURNS)]


@pytest.fixture
def passes(run_with):
    """A pass over sessions of any age."""
    return lambda *memories, **request: run_with(*memories, **{"all_ages": True, **request})


@pytest.fixture
def quiet(ids, passes, tmp_path):
    """Everything is learned, and two passes have found nothing since."""
    assert passes().sessions["extracted"] == len(ids)
    for _ in range(2):
        report = passes()
        assert (report.sessions["discovered"], report.sessions["claimed"]) == (len(ids), 0)
    assert kept(tmp_path) == ["known-states:codex"]
    return ids


@pytest.fixture
def command(engine_of):
    def call(*arguments):
        state = State()
        state._engine = engine_of()
        result = CliRunner().invoke(codexmem, [*arguments], obj=state)
        state.close()
        assert result.exit_code == 0, result.exception or result.output
        return result.output

    return call


def kept(tmp_path):
    with sqlite3.connect(tmp_path / "home" / "catalog.db") as database:
        rows = database.execute("SELECT key FROM marks WHERE key LIKE 'known-states:%'").fetchall()
    database.close()
    return [row[0] for row in rows]


def file_of(codex_home, session_id):
    (path,) = codex_home.root.rglob(f"*{session_id}.jsonl")
    return path


def extracted(report):
    return report.sessions["extracted"] + report.sessions["empty"]


def test_a_quiet_pass_counts_all_sessions_and_opens_no_file(quiet, passes, codex_home):
    for session_id in quiet:  # other content that no stat tells of: who opens one sees it
        path = file_of(codex_home, session_id)
        before = path.stat()
        with path.open("r+b") as file:
            file.write(b"x" * before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    report = passes()
    assert (report.sessions["discovered"], report.sessions["claimed"], report.warnings) == (len(quiet), 0, ())


@pytest.mark.parametrize("number", [0, 2, 3])
def test_a_resumed_session_is_learned_again_however_old_its_folder_is(quiet, passes, codex_home, number):
    at = [OLD, OLD, OLD.replace(month=5), datetime(2026, 11, 29, 9, tzinfo=UTC)][number]
    codex_home(*MORE, session_id=quiet[number], at=at)
    report = passes()
    assert (report.sessions["discovered"], extracted(report)) == (len(quiet), 1)
    assert passes().sessions["claimed"] == 0


def test_the_second_of_two_changes_in_a_row_is_seen_like_the_first(quiet, passes, codex_home):
    for _ in range(3):
        codex_home(*MORE, session_id=quiet[0], at=OLD)
        assert extracted(passes()) == 1


def test_a_new_session_in_an_old_folder_is_learned(quiet, passes, codex_home):
    codex_home(*TURNS, at=OLD)
    report = passes()
    assert (report.sessions["discovered"], extracted(report)) == (len(quiet) + 1, 1)


def test_content_that_was_replaced_under_the_same_name_size_and_time_is_seen(quiet, passes, codex_home):
    path = file_of(codex_home, quiet[0])
    before = path.stat()
    path.with_suffix(".new").write_bytes(path.read_bytes().replace(b"linter", b"tester"))
    path.with_suffix(".new").rename(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert extracted(passes()) == 1


def test_a_session_that_was_archived_is_the_same_session_at_another_place(quiet, passes, codex_home, engine_of):
    path = file_of(codex_home, quiet[0])
    archive = codex_home.root / "archived_sessions"
    archive.mkdir()
    path.rename(archive / path.name)
    report = passes()
    assert (report.sessions["discovered"], report.sessions["claimed"]) == (len(quiet), 0)
    assert engine_of().catalogue.session("codex", quiet[0]).session.locator == str(archive / path.name)
    codex_home(*MORE, session_id=quiet[1], at=OLD)  # it stays in the folder that the other one left
    assert extracted(passes()) == 1


def test_a_link_to_a_day_folder_is_followed_in_quiet_passes_too(quiet, passes, codex_home, tmp_path):
    folder = file_of(codex_home, quiet[0]).parent
    folder.rename(tmp_path / "disk")
    folder.symlink_to(tmp_path / "disk")
    for _ in range(2):
        assert passes().sessions["discovered"] == len(quiet)
    codex_home(*MORE, session_id=quiet[0], at=OLD)
    assert extracted(passes()) == 1


def test_a_memory_that_is_installed_later_learns_everything(quiet, passes, other_memory):
    report = passes(other_memory())
    assert (report.memories["other"].extracted, report.memories["v1"].claimed) == (len(quiet), 0)


def test_after_a_reset_everything_is_learned_again(quiet, passes, command):
    command("reset", "--yes")
    assert extracted(passes()) == len(quiet)


def test_a_forgotten_session_stays_forgotten_until_that_is_lifted(quiet, passes, command):
    command("forget", quiet[0])
    assert passes().sessions["claimed"] == 0
    command("forget", "--lift", quiet[0])
    assert extracted(passes()) == 1


def test_a_session_that_was_switched_off_is_learned_when_it_is_switched_on(ids, passes, command):
    passes()
    command("mode", ids[0], "disabled")
    command("reset", "--yes")
    assert extracted(passes()) == len(ids) - 1
    passes()
    command("mode", ids[0], "enabled")
    assert extracted(passes()) == 1


def test_a_failed_session_is_tried_again_when_its_time_has_come(ids, passes, other_memory, clock):
    def trouble():
        raise RuntimeError("not today")

    assert passes(other_memory(trouble=trouble)).memories["other"].failed == len(ids)
    for _ in range(2):
        assert passes(other_memory()).sessions["claimed"] == 0
    clock.turn(hours=1.1)
    assert passes(other_memory()).memories["other"].extracted == len(ids)


def test_a_session_that_waits_for_silence_is_learned_when_it_has_come(quiet, passes, codex_home, clock):
    path = file_of(codex_home, codex_home(*TURNS, at=datetime(2026, 11, 30, 11, tzinfo=UTC)))
    seconds = clock.ms / 1000 - 3_600
    os.utime(path, (seconds, seconds))
    for _ in range(2):
        assert passes(idle_hours=6.0).sessions["claimed"] == 0
    clock.turn(hours=6)
    assert extracted(passes(idle_hours=6.0)) == 1


def test_a_catalogue_that_is_lost_is_filled_again(quiet, passes, tmp_path):
    for path in (tmp_path / "home").glob("catalog.db*"):
        path.unlink()
    report = passes()
    assert (report.sessions["discovered"], report.sessions["claimed"]) == (len(quiet), 0)
