"""Imported files as facts: each on its own, with the directory it is about, without what means nothing here."""

from __future__ import annotations

import pytest
from codexmem_hookspecs.testing import DictWorkspace
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.consolidate.extensions import taken_in
from codexmem_core.consolidate.resources import facts_of

HANDBOOK = """# Task Group: /home/user/shop
scope: work on the shop
applies_to: cwd=/home/user/shop; reuse_rule=only here

## Task 1: Make the build fast, success

### rollout_summary_files

- rollout_summaries/2026-11-29T15-x.md (cwd=/home/user/shop, thread_id=0199)

### keywords

- make, fast

## User preferences

- when building, the user said: "use make fast" -> do that (2026-11-29, rollout_summaries/2026-11-29T15-x.md) [Task 1]
- sign commits
  - with the work key

## Failures and how to do differently

1. `ld` fails; set LDFLAGS:

```
export LDFLAGS=-s
# no heading
```

# Task Group: kitchen

The oven is called basil.
It is old [Task 2, Task 3]
"""


def facts(text, *, path="MEMORY.md", cwd="", tag="", beside=()):
    return list(facts_of(path, text, cwd=cwd, tag=tag, beside=beside))


def told(text, **more):
    return [fact.text for fact in facts(text, **more)]


def test_each_bullet_and_paragraph_of_a_handbook_is_a_fact_with_its_kind_and_directory():
    preference, signing, failure, oven = facts(HANDBOOK, tag="[from codex]")
    assert preference.text == 'when building, the user said: "use make fast" -> do that (2026-11-29)'
    assert (preference.kind, preference.cwd, preference.tag) == ("preference", "/home/user/shop", "[from codex]")
    assert signing.text == "sign commits\n  - with the work key"
    assert failure.kind == "failure"
    assert "export LDFLAGS=-s\n# no heading" in failure.text
    assert (oven.text, oven.title, oven.kind) == ("The oven is called basil.\nIt is old", "kitchen", "knowledge")
    assert oven.cwd == ""


def test_a_summary_that_leads_to_recaps_gives_the_sentence_without_the_pointer():
    text = """v1
## What's in Memory
### /home/user/shop
#### 2026-11-29
- rollout_summaries/2026-11-29T15-x.md — The build was fixed; thread_id=01a22d0b-8dec-7ef0-86c6-2ea97b52a4fe
- rollout_summaries/2026-11-29T16-y.md
"""
    (fact,) = facts(text)
    assert (fact.text, fact.title, fact.cwd) == ("The build was fixed", "", "/home/user/shop")


@pytest.mark.parametrize("tag", ["[from codexmem]", "[from opencode]", "[From CodexMem]"])
def test_what_comes_from_us_is_not_taken_in_again_and_its_neighbours_are(tag):
    text = f"""# Mixed
- theirs
- ours {tag}
  - more of ours

  and more
- theirs too
  - ours below {tag}
      deeper
  - theirs below

ours as a paragraph
over two lines {tag}

# A group {tag}
- ours by its heading
## Below
- ours as well
# Next
- theirs again
"""
    assert told(text) == ["theirs", "theirs too\n  - theirs below", "theirs again"]


def test_a_file_with_front_matter_is_one_fact():
    head = "---\nname: tabs\ndescription: tabs, not spaces\n"
    nested = f"{head}metadata: \n  node_type: memory\n  type: feedback\n---\n\nUse tabs.\n"
    flat = '---\r\nname: "tabs"\r\ndescription: >-\r\n  tabs,\r\n  not spaces\r\ntype: feedback\r\n---\r\nUse tabs.\r\n'
    for text in (nested, "\ufeff" + nested, flat):
        (fact,) = facts(text, path="p/tabs.md")
        assert (fact.text, fact.title, fact.summary) == ("Use tabs.", "tabs", "tabs, not spaces")
        assert fact.kind == "preference"
    (port,) = facts("---\ndescription: port 8080\ntype: project\n---\n", path="p/port.md")
    assert (port.text, port.title, port.kind) == ("port 8080", "port", "knowledge")
    assert facts("---\nname: x [from codexmem]\n---\nours\n") == []
    assert told("---\nname: x\n---\nours [from codexmem]\n") == []
    assert told("---\nnot closed: yes\n\n- a fact\n") == ["---\nnot closed: yes", "a fact"]


def test_a_line_that_only_leads_to_a_file_beside_it_is_none():
    index = "- [Tabs](tabs.md) — use tabs\n- [Gone](gone.md) - still worth knowing\n- [Here](./port.md)\n"
    assert told(index, beside={"tabs.md", "port.md"}) == ["Gone: still worth knowing"]


def test_a_known_directory_counts_more_than_what_the_file_says():
    assert {fact.cwd for fact in facts(HANDBOOK, cwd="/home/user/other")} == {"/home/user/other"}


def test_citations_of_the_other_tool_are_left_out():
    text = "- a fact <oai-mem-citation>\n<citation_entries>MEMORY.md:1-2</citation_entries>\n</oai-mem-citation> ends\n"
    assert told(text) == ["a fact  ends"]
    assert told("- fact <oai-mem-citation>\n<never closed") == ["fact"]


@given(st.text(alphabet=st.sampled_from(list("#-*` \n()[],;:~>1.a/\u00e9\U0001f642")) | st.characters(), max_size=400))
def test_any_text_comes_apart_and_nothing_of_it_is_empty(text):
    for fact in facts(text):
        assert fact.text.strip()
        assert "[from codexmem]" not in fact.text.lower()


@pytest.mark.parametrize("piece", ["(", "- ", "# #", "[Task 1, ", "`", " \t", "<oai-mem-citation>", "a (,;", "---\n"])
def test_long_strange_texts_come_apart_as_well(piece):
    facts("- x " + piece * 200_000)


def workspace(**files):
    base = "extensions/tool"
    return DictWorkspace("v1", {f"{base}/{path}": text for path, text in files.items()})


def test_extensions_are_read_with_the_tag_that_their_instructions_name_and_the_nearest_scope():
    files = {
        "instructions.md": "Skip `[from codexmem]`. Mark with `[from tool]`, never `[from codex]`.\n",
        "resources/a.md": "- no scope\n",
        "resources/shop/scope.json": '{"cwd": "/home/user/shop"}',
        "resources/shop/deep/b.MD": "- in the shop\n",
        "resources/odd/scope.json": '{"cwd": "relative"}',
        "resources/odd/c.md": "- odd scope\n",
        "resources/broken/scope.json": "[",
        "resources/broken/d.md": "- broken scope\n",
        "notes/n.md": "- beside the resources\n",
    }
    found = taken_in(workspace(**files), lambda text: text)
    assert [(fact.text, fact.cwd) for fact in found.imported] == [
        ("no scope", ""),
        ("broken scope", ""),
        ("odd scope", ""),
        ("in the shop", "/home/user/shop"),
    ]
    assert {fact.tag for fact in found.imported} == {"[from tool]"}
    assert "extensions/tool/notes/n.md" in found.notes
    assert "extensions/tool/instructions.md" not in found.notes


def test_the_same_fact_twice_about_one_directory_is_one_and_what_is_forgotten_is_left_out():
    files = {"instructions.md": "", "resources/a.md": "- Use  tabs\n", "resources/b.md": "- use tabs\n- the heron\n"}
    found = taken_in(workspace(**files), lambda text: text.replace("- the heron\n", ""))
    assert [fact.text for fact in found.imported] == ["Use  tabs"]
