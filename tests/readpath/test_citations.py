"""Every form of a citation: read, and taken out of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.readpath.citations import CitationEntry, has_markup, parse, strip

OURS = """Done.

<memory-citation>
<citation_entries>
MEMORY.md:12-18|note=[how to release]
rollout_summaries/a:b.md:1-2|note=plain words
no entry at all
MEMORY.md:7|note=[no range]
:1-2|note=[no path]
MEMORY.md:x-2|note=[no number]
</citation_entries>
<session_ids>
 one
two

one
</session_ids>
</memory-citation>
"""


def test_our_own_form_gives_entries_and_ids_once_each():
    found = parse(OURS)
    assert found.entries == (
        CitationEntry(path="MEMORY.md", start=12, end=18, note="how to release"),
        CitationEntry(path="rollout_summaries/a:b.md", start=1, end=2, note="plain words"),
    )
    assert found.session_ids == ("one", "two")
    assert strip(OURS) == "Done."


@pytest.mark.parametrize("tag", ["memory-citation", "MEMORY-Citation", "memory_citation"])
def test_letter_case_and_codexs_first_name_do_not_matter(tag):
    text = f"a <{tag}><SESSION_IDS>\nx\n</SESSION_IDS></{tag.lower()}> b"
    assert parse(text).session_ids == ("x",)
    assert strip(text) == "a  b"


@pytest.mark.parametrize("section", ["session_ids", "rollout_ids", "thread_ids"])
@pytest.mark.parametrize("tag", ["memory-citation", "oai-mem-citation"])
def test_ids_may_stand_under_any_name(tag, section):
    assert parse(f"<{tag}><{section}>\nx\ny\n</{section}></{tag}>").session_ids == ("x", "y")


def test_the_oldest_form_is_a_list_of_ids():
    assert parse("<memory-citation><citation_entries>a, b,a\nc</citation_entries></memory-citation>").session_ids == (
        "a",
        "b",
        "c",
    )
    with_ids = "<memory-citation><citation_entries>a, b</citation_entries><session_ids></session_ids></memory-citation>"
    assert not parse(with_ids), "an empty list of ids is a list of ids"


def test_codexs_block_that_is_not_closed_goes_to_the_end():
    text = (
        "Hello <oai-mem-citation><citation_entries>\nMEMORY.md:1-2|note=[a|note=[b]\n</citation_entries>\n"
        "<rollout_ids>\nx\n</rollout_ids></oai-mem-citation> mid <oai-mem-citation>\n"
        "<thread_ids>\ny\n</thread_ids>\ntail"
    )
    assert parse(text).session_ids == ("x", "y")
    assert parse(text).entries[0].note == "b"
    assert strip(text) == "Hello  mid"


def test_our_own_block_that_is_not_closed_stays():
    text = "Hello <memory-citation><session_ids>\nx\n</session_ids> and on"
    assert has_markup(text)
    assert not parse(text)
    assert strip(text) == text


def test_a_code_fence_is_a_citation_too():
    text = "Done.\n\n  ````memory-citation\nMEMORY.md:3-4|note=[x]\nSessions: a, b c\nsession:d\n ````  \n\n\n\nMore."
    found = parse(text)
    assert found.session_ids == ("a", "b", "c", "d")
    assert found.entries == (CitationEntry(path="MEMORY.md", start=3, end=4, note="x"),)
    assert strip(text) == "Done.\n\nMore."


@pytest.mark.parametrize(
    "text",
    [
        "    ```memory-citation\nsession: a\n```\n",
        "``memory-citation\nsession: a\n``\n",
        "```memory-citation more\nsession: a\n```\n",
        "````memory-citation\nsession: a\n```\n",
        "text ```memory-citation\nsession: a\n```\n",
    ],
)
def test_another_fence_is_none(text):
    assert not parse(text)
    assert strip(text) == text


def test_blocks_with_nothing_in_them_give_nothing_and_still_go():
    text = "a\n<memory-citation></memory-citation>\n\n\n \n\nb\n<oai-mem-citation></oai-mem-citation>  \n"
    assert not parse(text)
    assert strip(text) == "a\n\nb"


def test_text_without_citations_keeps_every_space():
    text = "  a\n\n\n\nb  \n"
    assert strip(text) == text
    assert not has_markup(text)


PIECES = st.sampled_from(
    [
        "<memory-citation>", "</memory-citation>", "<oai-mem-citation>", "</oai-mem-citation>", "<citation_entries>",
        "</citation_entries>", "<session_ids>", "</session_ids>", "```memory-citation\n", "```\n", "\n", "a", " ",
        "MEMORY.md:1-2|note=[x]\n", "session: q\n", "<memory-", "citation>",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_what_is_stripped_has_no_block_left(text):
    left = strip(text)
    assert not parse(left)
    assert strip(left) == left
    assert len(left) <= len(text)


def test_a_long_text_of_openings_is_looked_through_once():
    text = "<memory-citation>\n```memory-citation\n" * 20_000
    assert strip(text) == text  # looked through anew from each of them this would not end
