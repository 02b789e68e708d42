from __future__ import annotations

import os

import pytest
from codexmem_hookspecs.errors import Refused

from codexmem_core.readpath.errors import ToolError


def test_any_gives_each_line_that_holds_a_query_and_says_which(put, search):
    put({"a.md": "alpha\nbeta\nalpha beta\n", "b/c.txt": "gamma\nbeta\n"})
    found = search("alpha", "beta")
    assert [(m.path, m.match_line_number, m.matched_queries) for m in found.matches] == [
        ("a.md", 1, ("alpha",)),
        ("a.md", 2, ("beta",)),
        ("a.md", 3, ("alpha", "beta")),
        ("b/c.txt", 2, ("beta",)),
    ]
    assert found.text().splitlines()[:2] == ["4 matches", "a.md:1: alpha"]


def test_all_on_same_line_wants_every_query_in_one_line(put, places):
    put({"a.md": "alpha\nbeta alpha\nbeta\n"})
    assert places("alpha", "beta", match_mode="all_on_same_line") == [("a.md", 2)]


def test_all_within_lines_gives_the_smallest_windows_only(put, search):
    put({"a.md": "alpha\nx\nalpha\nbeta\nx\nx\nbeta\nalpha\n"})
    found = search("alpha", "beta", match_mode="all_within_lines", line_count=4)
    assert [(m.match_line_number, m.content) for m in found.matches] == [(3, "alpha\nbeta"), (7, "beta\nalpha")]
    assert search("alpha", "beta", match_mode="all_within_lines", line_count=1).matches == ()


def test_case_counts_unless_it_is_said_otherwise(put, places):
    put({"a.md": "Lease\nlease\n"})
    assert places("Lease") == [("a.md", 1)]
    assert places("LEASE", case_sensitive=False) == [("a.md", 1), ("a.md", 2)]


def test_normalized_compares_letters_and_digits_only_and_leaves_case_alone(put, places, search):
    put({"a.md": "max_rollouts-per startup\nMaxRollouts\n"})
    assert places("rollouts per_startup", normalized=True) == [("a.md", 1)]
    assert places("maxrollouts", normalized=True) == [("a.md", 1)]
    assert places("maxrollouts", normalized=True, case_sensitive=False) == [("a.md", 1), ("a.md", 2)]
    with pytest.raises(ToolError, match="no letter"):
        search("--", normalized=True)


def test_context_lines_widen_what_is_shown_and_say_where_it_begins(put, search):
    put({"a.md": "one\ntwo\nthree\nfour\n"})
    (match,) = search("three", context_lines=1).matches
    assert (match.match_line_number, match.content_start_line_number, match.content) == (3, 2, "two\nthree\nfour")
    (first,) = search("one", context_lines=5).matches
    assert (first.content_start_line_number, first.content) == (1, "one\ntwo\nthree\nfour")


def test_pages_follow_path_and_line_and_end(put, places, search):
    put({"b.md": "x\nx\n", "a.md": "x\n", "B.md": "x\n"})
    everything = places("x")
    assert everything == [("B.md", 1), ("a.md", 1), ("b.md", 1), ("b.md", 2)]
    first = search("x", max_results=3)
    assert (first.total, first.truncated, first.next_cursor) == (4, True, "3")
    assert "cursor 3" in first.text()
    assert places("x", cursor="3") == everything[3:]
    assert search("x", cursor="4").text() == "No more matches: there are 4."
    for wrong in ("5", "-1", "two", "\u0663"):
        with pytest.raises(ToolError, match="cursor"):
            search("x", cursor=wrong)


def test_a_path_narrows_to_a_folder_or_a_file(put, places, search):
    put({"skills/a.md": "x\n", "skills_old/a.md": "x\n", "top.md": "x\n"})
    assert places("x", path="skills") == places("x", path="./skills/") == [("skills/a.md", 1)]
    assert places("x", path="top.md") == [("top.md", 1)]
    with pytest.raises(ToolError, match="Not found: nowhere"):
        search("x", path="nowhere")
    for wrong in ("../home", "/etc"):
        with pytest.raises(ToolError, match="escapes"):
            search("x", path=wrong)


def test_every_text_file_is_searched_and_nothing_hidden_linked_or_binary(put, root, places, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "o.md").write_text("needle\n")
    put(
        {
            "note.json": "needle\n",
            "plain": "needle\n",
            ".git/config": "needle\n",
            "dir/.hidden.md": "needle\n",
            "binary.bin": b"needle\0",
            "phase2_workspace_diff.md": "- needle\n",
            "latin.md": b"caf\xe9 needle\n",
        }
    )
    os.symlink(tmp_path / "outside" / "o.md", root / "link.md")
    os.symlink(tmp_path / "outside", root / "linked")
    assert places("needle") == [("latin.md", 1), ("note.json", 1), ("plain", 1)]


def test_a_linked_root_is_refused(tmp_path, root, put):
    from codexmem_core.readpath.arguments import Search
    from codexmem_core.readpath.search import MemorySearch

    put({"a.md": "x\n"})
    os.symlink(root, tmp_path / "other")
    with pytest.raises(Refused, match="symbolic link"):
        MemorySearch(str(tmp_path / "other")).search(Search(queries=["x"]))


@pytest.mark.parametrize(
    ("queries", "asked", "why"),
    [
        ((), {}, "at least one"),
        ((" ",), {}, "empty"),
        (("a", ""), {}, "empty"),
        (("a",), {"match_mode": "all_within_lines"}, "line_count"),
        (("a",), {"since": "yesterday"}, "YYYY-MM-DD"),
        ((), {"until": "2026-13-01"}, "YYYY-MM-DD"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(search, queries, asked, why):
    with pytest.raises(ToolError, match=why):
        search(*queries, **asked)


RECAPS = {
    "rollout_summaries/2026-11-01T10-00-00-aaaa-first.md": "session_id: 1\nhost: codex\n\n# First thing\nneedle\n",
    "rollout_summaries/2026-11-02T23-59-59-bbbb.md": "session_id: 2\ncwd: /x\nusage_count: 0\n\nneedle second\n",
    "extensions/ad_hoc/notes/2026-11-03T00-00-00-n.md": "# Ad-hoc note\n\n- created: x\n- session: y\n\nthird needle\n",
    "MEMORY.md": "needle without a time\n",
    "2026-99-99T00-00-00.md": "needle with no real time\n",
}


def test_without_times_everything_is_searched(put, places):
    put(RECAPS)
    assert len(places("needle")) == 5


def test_times_keep_only_files_whose_name_states_one_inside(put, places):
    put(RECAPS)
    assert {path[-8:] for path, _ in places("needle", since="2026-11-02")} == {"-bbbb.md", "-00-n.md"}
    assert [path[-8:] for path, _ in places("needle", since="2026-11-01", until="2026-11-01T12:00:00Z")] == ["first.md"]
    assert places("First", since="2026-11-01", until="2026-11-01") == [(next(iter(RECAPS)), 4)]
    assert places("needle", since="2026-11-03T00:00:00+02:00", until="2026-11-02") != []


def test_a_day_as_until_counts_whole(put, places):
    put(RECAPS)
    assert [path[-8:] for path, _ in places("needle", since="2026-11-02", until="2026-11-02")] == ["-bbbb.md"]


def test_times_alone_list_the_period_newest_first_with_the_first_content_line(put, search):
    put(RECAPS)
    found = search(since="2026-11-01", max_results=2)
    assert [(period.at, period.first_line) for period in found.periods] == [
        ("2026-11-03T00:00:00Z", "third needle"),
        ("2026-11-02T23:59:59Z", "needle second"),
    ]
    (last,) = search(since="2026-11-01", cursor=found.next_cursor).periods
    assert (last.at, last.first_line) == ("2026-11-01T10:00:00Z", "# First thing")
    assert "2026-11-03T00:00:00Z extensions/" in found.text()


def test_a_page_stays_below_256_kib_and_the_cursor_goes_on(put, search):
    put({"a.md": ("needle " + "x" * 100_000 + "\n") * 4, "b.md": "needle " + "y" * 600_000 + "\n"})
    got, cursor = [], ""
    while True:
        page = search("needle", cursor=cursor)
        assert len(page.text().encode()) <= 300_000
        got += [(match.path, match.match_line_number) for match in page.matches]
        cursor = page.next_cursor
        if not cursor:
            break
    assert got == [("a.md", 1), ("a.md", 2), ("a.md", 3), ("a.md", 4), ("b.md", 1)]


def test_a_secret_is_masked_and_cannot_be_searched_for(put, search, secret):
    put({"a.md": f"deploy with {secret}\n"})
    assert search(secret).matches == ()
    (match,) = search("deploy").matches
    assert secret not in match.content
    assert "[REDACTED" in match.content
    assert all(secret not in match.content for match in search("deploy token", match_mode="ranked").matches)


def test_a_changed_a_new_and_a_removed_file_are_noticed_by_the_next_search(put, root, places):
    put({"a.md": "old\n", "b.md": "old\n"})
    for mode in ("any", "ranked"):
        assert len(places("old", match_mode=mode)) == 2
    stat = (root / "a.md").stat()
    (root / "a.md").write_text("new\n")
    os.utime(root / "a.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))  # same size, same time: written just now
    (root / "b.md").unlink()
    put({"c/d.md": "old\n"})
    for mode in ("any", "ranked"):
        assert places("new", match_mode=mode) == [("a.md", 1)]
        assert places("old", match_mode=mode) == [("c/d.md", 1)]
