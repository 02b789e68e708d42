"""Search against a scan that anybody can check."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codexmem_core.readpath.arguments import Search
from codexmem_core.readpath.reading import read_window
from codexmem_core.readpath.search import MemorySearch
from codexmem_core.safety.files import GuardedFolder

ALPHABET = 'abA bB清单サ가é_-."*(C+🦀ß\n\n'
TEXTS = st.lists(st.text(ALPHABET, max_size=40), min_size=1, max_size=4)
QUERIES = st.text(ALPHABET.replace("\n", ""), min_size=1, max_size=4).filter(str.strip)


def memory_of(folder, texts):
    for number, text in enumerate(texts):
        (Path(folder) / f"{number}.md").write_bytes(text.encode())
    return MemorySearch(folder)


def scan(texts, queries, *, lower):
    hits = []
    for number, text in enumerate(texts):
        for at, line in enumerate(text.split("\n"), start=1):
            held = tuple(q for q in queries if (q.lower() in line.lower() if lower else q in line))
            if held:
                hits.append((f"{number}.md", at, held))
    return hits


@settings(max_examples=80, deadline=None)
@given(texts=TEXTS, queries=st.lists(QUERIES, min_size=1, max_size=3), case_sensitive=st.booleans())
def test_any_equals_a_scan(texts, queries, case_sensitive):
    with tempfile.TemporaryDirectory() as folder:
        found = memory_of(folder, texts).search(Search(queries=queries, case_sensitive=case_sensitive))
    trimmed = [query.strip() for query in queries]
    got = [(match.path, match.match_line_number, match.matched_queries) for match in found.matches]
    assert got == scan(texts, trimmed, lower=not case_sensitive)


@settings(max_examples=120, deadline=None)
@given(texts=TEXTS, query=QUERIES)
def test_ranked_answers_every_query_that_a_scan_answers(texts, query):
    with tempfile.TemporaryDirectory() as folder:
        found = memory_of(folder, texts).search(Search(queries=[query], match_mode="ranked"))
    whole, words = [query.strip()], query.split()
    if scan(texts, whole, lower=True) or scan(texts, words, lower=True):
        assert found.matches
    holding = {path for path, _, _ in scan(texts, whole, lower=True)}
    assert holding <= {match.path for match in found.matches}


@settings(max_examples=60, deadline=None)
@given(first=TEXTS, second=TEXTS, query=QUERIES)
def test_a_warm_search_equals_a_fresh_one(first, second, query):
    with tempfile.TemporaryDirectory() as folder:
        warm = memory_of(folder, first)
        warm.search(Search(queries=[query], match_mode="ranked"))
        for file in Path(folder).iterdir():
            file.unlink()
        fresh = memory_of(folder, second)
        for mode in ("any", "ranked"):
            asked = Search(queries=[query], match_mode=mode)
            assert warm.search(asked) == fresh.search(asked)


@settings(max_examples=60, deadline=None)
@given(text=st.text("ab\r\n 清", max_size=200), size=st.integers(1, 7))
def test_windows_put_together_are_the_file(text, size):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.md").write_bytes(text.encode())
        guarded = GuardedFolder(folder)
        pieces, offset = [], 1
        while offset:
            window = read_window(guarded, "a.md", line_offset=offset, max_lines=size)
            pieces.append(window.content)
            offset = window.next_offset
    assert "".join(pieces) == text.replace("\r\n", "\n")
