from __future__ import annotations

import pytest

FIELD_CASE = {
    "1.md": "设备清单(devices)在仓库里\n",
    "2.md": "重跑gen-itgc后50条\n",
    "3.md": "サンドボックス修正テスト\n",
    "4.md": 'The parser is C++ and a-b; he said "unbalanced and NEAR(x) 🦀\n',
    "5.md": "nothing of it here\n",
    "6.md": "메모리 파일은 마크다운으로\n",
    "7.md": "const parseConfig = max_rollouts_per_startup\n",
}


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("设备", "1.md"),
        ("清", "1.md"),
        ("单", "1.md"),
        ("仓库里", "1.md"),
        ("itgc", "2.md"),
        ("gen-itgc", "2.md"),
        ("跑", "2.md"),
        ("サンド", "3.md"),
        ("テスト", "3.md"),
        ("ト", "3.md"),
        ("C++", "4.md"),
        ("a-b", "4.md"),
        ('"unbalanced', "4.md"),
        ("NEAR(", "4.md"),
        ("🦀", "4.md"),
        ("마크", "6.md"),
        ("파일", "6.md"),
        ("parseConfig", "7.md"),
        ("config", "7.md"),
        ("rollouts per startup", "7.md"),
        ("ollouts_per", "7.md"),
        ("onfi", "7.md"),
        ("absentword onfi", "7.md"),
    ],
)
def test_no_script_and_no_punctuation_hides_what_is_there(put, places, query, file):
    put(FIELD_CASE)
    assert places(query, match_mode="ranked")[0] == (file, 1)


@pytest.mark.parametrize(
    "query",
    ['"', '""', "'", "*", "a*", "(", ")", "NEAR(", "NEAR(a, 5)", "AND", "OR NOT", "a AND", "-a", "^a", "a:b", "{a}",
     "a+", "body:x", "\\", "%", ";", "--", "\u0000", "🦀🦀", "\ud800", "ﷺ", "e\u0301", "ก็", "a" * 5000],
)  # fmt: skip
def test_nothing_in_a_question_is_query_syntax(put, search, query):
    put(FIELD_CASE)
    search(query, match_mode="ranked")


def test_a_question_finds_the_passage_that_answers_it_before_those_that_share_common_words(put, search):
    put(
        {
            "harbor.md": "The user wants the tides cached.\n" + "Filler about the user and the work.\n" * 6,
            "orchard.md": "Filler.\n" * 20 + "- never deploy on a Friday, the user said\n" + "Filler.\n" * 20,
            "other.md": "The user deploys with make.\n" * 3,
        }
    )
    first = search("what did the user say about deploying on Fridays?", match_mode="ranked").matches[0]
    assert (first.path, first.match_line_number) == ("orchard.md", 21)
    assert "never deploy on a Friday" in first.content
    assert len(first.content.splitlines()) == 5


def test_word_forms_are_one_word(put, places):
    put({"a.md": "Migrations were retried.\n", "b.md": "the migrating birds\n", "c.md": "unrelated\n"})
    assert {path for path, _ in places("migration", match_mode="ranked")} == {"a.md", "b.md"}
    assert places("retrying", match_mode="ranked")[0] == ("a.md", 1)


def test_a_question_of_stop_words_alone_is_still_a_question(put, places):
    put({"a.md": "to be or not\n", "b.md": "zebra\n"})
    assert places("to be or", match_mode="ranked") == [("a.md", 1)]


def test_what_stands_literally_comes_first(put, places):
    put({f"{number}.md": "run the test suite with make\n" for number in range(30)} | {"x.md": "make: run-the-test\n"})
    assert places("run-the-test", match_mode="ranked")[0] == ("x.md", 1)


def test_a_long_file_is_several_passages_and_gives_at_most_three(put, search):
    put({"long.md": "".join(f"line {number} heron\n" if number % 40 == 0 else "x\n" for number in range(1000))})
    found = search("heron", match_mode="ranked")
    assert [match.path for match in found.matches] == ["long.md"] * 3
    assert len({match.match_line_number for match in found.matches}) == 3


def test_ranked_pages_do_not_repeat_and_reach_everything(put, search):
    put({f"{number:02d}.md": f"heron number {number}\n" for number in range(25)})
    got, cursor = [], ""
    while True:
        page = search("heron", match_mode="ranked", cursor=cursor)
        got += [match.path for match in page.matches]
        cursor = page.next_cursor
        if not cursor:
            break
    assert sorted(got) == [f"{number:02d}.md" for number in range(25)]
    assert len(search("heron", match_mode="ranked").matches) == 10


def test_path_and_time_narrow_a_ranked_search(put, places):
    names = [f"rollout_summaries/2026-11-{day:02d}T10-00-00-aaaa.md" for day in range(1, 31)]
    put(dict.fromkeys(names, "heron\n") | {"MEMORY.md": "heron heron\n"})
    assert places("heron", match_mode="ranked", since="2026-11-30") == [(names[-1], 1)]
    assert places("ero", match_mode="ranked", since="2026-11-30") == [(names[-1], 1)]
    assert places("heron", match_mode="ranked", path="MEMORY.md") == [("MEMORY.md", 1)]


def test_ranking_is_the_same_every_time_and_in_every_process(put, root, places):
    from codexmem_core.readpath.arguments import Search
    from codexmem_core.readpath.search import MemorySearch

    put({f"{number}.md": "heron egret\n" * (number % 4 + 1) + "tern\n" * number for number in range(12)})
    first = places("heron tern", match_mode="ranked", max_results=100)
    fresh = MemorySearch(str(root)).search(Search(queries=["heron tern"], match_mode="ranked", max_results=100))
    assert first == places("heron tern", match_mode="ranked", max_results=100)
    assert first == [(match.path, match.match_line_number) for match in fresh.matches]
