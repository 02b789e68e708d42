"""What is remembered of the recordings: enough of what was labelled, and nothing else."""

import os
import re
import shutil
import subprocess
import sys

import pytest

WANTED = 0.8
SMALL_TALK = "hello"


def test_the_command_is_content(measured):
    assert measured.status == 0, measured.printed
    for kind in ("preference", "decision", "task", "failure", "replaced"):
        assert re.search(rf"^    found +{kind}.* MEMORY\.md:\d+$", measured.printed, re.MULTILINE)
    assert measured.printed.count("labelled findings found") == 4


def test_at_least_four_fifths_of_the_labelled_findings_are_found(result):
    missed = [f"{label.session}: {label.says}" for label, line in result.found if not line and not label.optional]
    assert result.wanted >= 40
    assert result.recall >= WANTED, missed


@pytest.mark.parametrize("kind", ["preference", "decision", "task", "failure", "replaced"])
def test_no_kind_of_finding_is_left_behind(result, kind):
    found = [line is not None for label, line in result.found if kind in label.kinds and not label.optional]
    assert found
    assert sum(found) / len(found) >= WANTED


def test_no_line_is_unsupported(result):
    assert [f"{line.place} {line.kind}: {line.text}" for line in result.unsupported] == []


def test_what_must_not_be_remembered_is_not(result):
    assert result.forbidden == ()


def test_small_talk_leaves_no_recap(measured, recordings):
    (meta,) = [record["payload"]["id"] for record in recordings[SMALL_TALK] if record["type"] == "session_meta"]
    memory = measured.homes / "recordings" / "home" / "memories"
    texts = [path.read_text("utf-8") for path in memory.rglob("*.md")]
    assert len(list(memory.glob("rollout_summaries/*.md"))) == len(recordings) - 1
    assert not any(meta in text for text in texts)


def test_every_line_has_a_source_that_can_be_opened(measured):
    memory = measured.homes / "recordings" / "home" / "memories"
    handbook = (memory / "MEMORY.md").read_text("utf-8")
    for path in memory.glob("rollout_summaries/*.md"):
        assert f"rollout_summaries/{path.name}" in handbook
    for line in handbook.split("\n"):
        if line.startswith("- when "):
            assert "rollout_summaries/" in line or line.startswith("- replaced"), line


def test_time_zone_and_locale_make_no_difference(recorded, measured, tmp_path):
    """The same sessions, run in another place of the world: the same bytes."""
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for name in ("ledger-import", "ledger-report", "tide-build-zh", "beacon-server-ja"):
        shutil.copy2(recorded.sessions / f"{name}.jsonl", sessions)
    told = []
    for number, (zone, locale) in enumerate(
        (("UTC", "C"), ("Pacific/Kiritimati", "tr_TR.UTF-8"), ("America/Adak", ""))
    ):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "config.toml").touch()
        codexmem = [
            sys.executable,
            "-m",
            "codexmem_core.cli",
            "--home",
            place / "home",
            "--config",
            place / "config.toml",
        ]
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("CODEXMEM_", "LC_", "LANG"))
        }
        environ |= {"TZ": zone, "LC_ALL": locale, "LANG": locale, "PYTHONHASHSEED": str(number)}
        subprocess.run(
            [*map(str, codexmem), "run", "--sessions", str(sessions), "--now"],
            env=environ,
            check=True,
            capture_output=True,
        )
        memory = place / "home" / "memories"
        told.append({path.relative_to(memory): path.read_bytes() for path in memory.rglob("*.md")})
    assert len(told[0]) > 6
    assert told[0] == told[1] == told[2]


def test_long_dialogues_are_measured_by_the_session_of_the_answer(measured):
    # Three questions count; the small talk of the third session left nothing that could be found.
    assert "LoCoMo: recall @1 0.667, @5 0.667, @10 0.667 of 3 questions; 2 of 3 sessions" in measured.printed
