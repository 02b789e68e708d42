"""Recap files: their names, their headers, and the folder that holds exactly the selected ones."""

import hashlib
import re

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Extraction
from hypothesis import example, given
from hypothesis import strategies as st

from codexmem_core.consolidate.recaps import (
    parse_recap,
    recap_files,
    recap_stem,
    render_recap,
    sync_recaps,
)
from codexmem_core.safety.files import GuardedFolder

AT_MS = 1_780_000_000_000  # 2026-05-28T20:26:40 UTC


def stored(session_id="s-1", *, summary="Did a thing.", cwd="/srv/shop", at_ms=AT_MS, usage=0, name=""):
    session = Session(host="codex", id=session_id, cwd=cwd, updated_at_ms=at_ms)
    return Stored(
        session=session,
        extraction=Extraction(summary=summary),
        recap_file=name or f"{recap_stem(session_id, at_ms)}.md",
        usage_count=usage,
    )


@pytest.fixture
def folder(root):
    (root / "rollout_summaries").mkdir()
    return GuardedFolder(str(root), write=True)


def test_a_stem_is_time_hash_and_slug():
    digest = hashlib.sha1(b"s-1").hexdigest()
    assert recap_stem("s-1", AT_MS, "Fix the Build!!") == f"2026-05-28T20-26-40-{digest[:4]}-fix_the_build"


def test_a_stem_is_the_same_for_the_same_session_and_has_no_empty_slug():
    assert recap_stem("s-1", AT_MS, "") == recap_stem("s-1", AT_MS, "***") == recap_stem("s-1", AT_MS)
    assert recap_stem("s-1", AT_MS) != recap_stem("s-2", AT_MS)
    assert not recap_stem("s-1", AT_MS).endswith("-")


@given(session_id=st.text(max_size=30), at_ms=st.integers(), slug=st.text(max_size=100))
def test_a_stem_is_a_safe_file_name_whatever_it_is_made_of(session_id, at_ms, slug):
    stem = recap_stem(session_id, at_ms, slug)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f]{4}(-[a-z0-9_]{1,60})?", stem)


def test_sessions_whose_short_hashes_meet_get_different_files():
    by_hash = {}
    for number in range(2000):
        by_hash.setdefault(hashlib.sha1(f"{number}".encode()).hexdigest()[:4], []).append(f"{number}")
    left, right = next(ids for ids in by_hash.values() if len(ids) > 1)[:2]
    names = recap_files([(left, AT_MS, "x"), (right, AT_MS, "x"), (left, AT_MS, "x"), (left, AT_MS, "x")])
    assert len(set(names)) == 4
    assert names[0] == f"{recap_stem(left, AT_MS, 'x')}.md"
    assert recap_files([(left, AT_MS, "x")]) == names[:1]


def test_a_recap_tells_where_it_came_from(folder, root):
    sync_recaps(folder, [stored(summary="Line one.\n\nLine two.\n\n", usage=3)])
    (path,) = (root / "rollout_summaries").iterdir()
    assert path.read_text() == (
        "session_id: s-1\nhost: codex\nupdated_at: 2026-05-28T20:26:40Z\ncwd: /srv/shop\nusage_count: 3\n"
        "\nLine one.\n\nLine two.\n"
    )


def test_only_the_selected_recaps_remain_and_unchanged_ones_are_not_written(folder, root):
    first, second, third = (stored(f"s-{number}") for number in range(3))
    assert sync_recaps(folder, [first, second]).removed == ()
    before = (root / "rollout_summaries" / first.recap_file).stat()
    (root / "rollout_summaries/notes.txt").write_text("not ours")
    (root / "rollout_summaries/sub").mkdir()
    (root / "rollout_summaries/sub/x.md").write_text("not ours")

    done = sync_recaps(folder, [first, third])

    assert done.written == (third.recap_file,)
    assert done.removed == (second.recap_file,)
    after = (root / "rollout_summaries" / first.recap_file).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    left = sorted(str(path.relative_to(root / "rollout_summaries")) for path in root.rglob("*") if path.is_file())
    assert left == sorted([first.recap_file, third.recap_file, "notes.txt", "sub/x.md"])
    assert sync_recaps(folder, [first, third]) == sync_recaps(folder, [third, first])


def test_two_rows_with_one_name_are_an_error_before_anything_is_written(folder, root):
    with pytest.raises(ValueError, match="same recap file"):
        sync_recaps(folder, [stored("a", name="x.md"), stored("b", name="x.md")])
    assert not list((root / "rollout_summaries").iterdir())


def test_a_linked_folder_or_file_is_refused_and_its_target_untouched(root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.md").write_text("theirs")
    (root / "rollout_summaries").symlink_to(outside, target_is_directory=True)
    folder = GuardedFolder(str(root), write=True)
    with pytest.raises(Refused):
        sync_recaps(folder, [stored()])
    with pytest.raises(Refused):
        sync_recaps(folder, [])
    assert sorted(path.name for path in outside.iterdir()) == ["theirs.md"]

    (root / "rollout_summaries").unlink()
    (root / "rollout_summaries").mkdir()
    (root / "rollout_summaries" / stored().recap_file).symlink_to(outside / "theirs.md")
    with pytest.raises(Refused):
        sync_recaps(folder, [stored()])
    assert (outside / "theirs.md").read_text() == "theirs"


def test_what_is_written_can_be_read_back():
    recap = parse_recap(render_recap(stored(summary="## Outcome\ncwd: not a header", usage=7)))
    assert (recap.session_id, recap.host, recap.updated_at_ms, recap.cwd, recap.usage_count) == (
        "s-1",
        "codex",
        AT_MS,
        "/srv/shop",
        7,
    )
    assert recap.summary == "## Outcome\ncwd: not a header"


_WORDS = st.text(max_size=60).map(lambda text: text.replace("\r", ""))


@example(session_id="s\n\ncwd: /forged", cwd="/work\nusage_count: 99", summary="x", at_ms=0)
@given(session_id=_WORDS, cwd=_WORDS, summary=_WORDS, at_ms=st.integers(-(10**18), 10**18))
def test_no_value_can_add_a_header_of_its_own(session_id, cwd, summary, at_ms):
    text = render_recap(stored(session_id, cwd=cwd, summary=summary, at_ms=at_ms, name="x.md"))
    header = text.split("\n\n")[0].split("\n")
    assert [line.split(":")[0] for line in header[:5]] == ["session_id", "host", "updated_at", "cwd", "usage_count"]
    assert parse_recap(text).summary == summary.strip()


def test_codex_files_are_understood():
    recap = parse_recap(
        "thread_id: 01a22d07-f9f9-72d2-990e-911a9eb0a14d\nupdated_at: 2026-11-30T12:18:46+00:00\n"
        "rollout_path: /sessions/rollout.jsonl\ncwd: /srv/shop\ngit_branch: main\n\nWhat happened.\n"
    )
    assert recap.session_id == "01a22d07-f9f9-72d2-990e-911a9eb0a14d"
    assert recap.updated_at_ms == 1_796_041_126_000
    assert (recap.host, recap.cwd, recap.usage_count, recap.summary) == ("", "/srv/shop", 0, "What happened.")


@pytest.mark.parametrize(
    "text", ["", "no header at all\nsecond line", "\n\n", "usage_count: many\nupdated_at: soon\n\nx"]
)
def test_files_without_a_good_header_are_read_as_far_as_they_go(text):
    recap = parse_recap(text)
    assert (recap.updated_at_ms, recap.usage_count) == (0, 0)
    assert recap.summary in {"", "no header at all\nsecond line", "x"}


@given(st.text())
def test_any_text_can_be_read(text):
    parse_recap(text)


def test_clocks_far_off_still_give_a_file():
    for at_ms in (-1, 0, 4_070_908_800_000, 10**20):
        assert parse_recap(render_recap(stored(at_ms=at_ms))).updated_at_ms >= 0
