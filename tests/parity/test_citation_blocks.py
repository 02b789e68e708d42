"""Several citation blocks in one answer."""

from __future__ import annotations

from codexmem_core.readpath.citations import parse, strip

FIRST = (
    "<memory-citation>\n<citation_entries>\nMEMORY.md:3-5|note=[crane]\n</citation_entries>\n"
    "<session_ids>\none\ntwo\n</session_ids>\n</memory-citation>"
)
SECOND = (
    "<memory-citation>\n<citation_entries>\nrollout_summaries/a.md:1-2|note=[bridge]\n</citation_entries>\n"
    "<session_ids>\ntwo\nthree\n</session_ids>\n</memory-citation>"
)
WITHOUT_IDS = (
    "<memory-citation>\n<citation_entries>\nMEMORY.md:9-9|note=[x]\n</citation_entries>\n"
    "<session_ids>\n</session_ids>\n</memory-citation>"
)


def test_all_blocks_count_and_an_id_counts_once():
    found = parse(f"First.\n{FIRST}\nThen more.\n{SECOND}\n")
    assert found.session_ids == ("one", "two", "three")
    assert [(entry.path, entry.start, entry.end) for entry in found.entries] == [
        ("MEMORY.md", 3, 5),
        ("rollout_summaries/a.md", 1, 2),
    ]


def test_all_blocks_go_and_the_prose_between_them_stays():
    assert strip(f"First.\n{FIRST}\n\nThen more.\n\n{SECOND}\n") == "First.\n\nThen more."


def test_a_block_may_cite_entries_and_no_session():
    found = parse(WITHOUT_IDS)
    assert (len(found.entries), found.session_ids) == (1, ())
    assert strip(f"Done.\n\n{WITHOUT_IDS}") == "Done."
