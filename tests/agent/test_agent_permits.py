"""What a memory may declare, and what no declaration can permit."""

import dataclasses

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_memory_v1 import MEMORY
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.consolidate.agent_paths import Permits, plain_path
from codexmem_core.consolidate.glob import matches

GREEDY = dataclasses.replace(MEMORY, agent_writes=("**", "*", "extensions/**", "rollout_summaries/*", ".git/**"))


@pytest.mark.parametrize(
    "path",
    [
        "raw_memories.md", "RAW_memories.md", "rollout_summaries/a.md", "Rollout_Summaries/a.md", "rollout_summaries",
        "extensions/ad_hoc/notes/a.md", "EXTENSIONS/x", "extensions", "phase2_workspace_diff.md",
        "Phase2_Workspace_Diff.MD", ".git/config", "skills/.git/config", "../x", "/x", "\uff32aw_memories.md",
    ],
)  # fmt: skip
def test_inputs_are_never_writable_whatever_a_memory_declares(path):
    with pytest.raises(Refused):
        Permits(GREEDY).writable(path)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("MEMORY.md", "MEMORY.md"),
        ("./MEMORY.md", "MEMORY.md"),
        ("skills//deploy/./SKILL.md", "skills/deploy/SKILL.md"),
        ("skills/设备/Überblick (2).md", "skills/设备/Überblick (2).md"),
    ],
)
def test_what_is_declared_is_writable_in_its_one_spelling(path, plain):
    assert Permits(MEMORY).writable(path) == plain


@given(st.text(max_size=40))
def test_a_plain_path_never_climbs_and_never_names_a_dotfile(text):
    try:
        path = plain_path(text)
    except Refused:
        return
    assert path == plain_path(path)
    assert all(name and not name.startswith(".") for name in path.split("/"))
    assert "\\" not in path
    assert path.isprintable()


@given(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5).map("/".join))
def test_patterns_take_a_path_apart_in_every_way(path):
    names = path.split("/")
    assert matches(path, path)
    assert matches(path, "**")
    assert matches(path, "**/" + names[-1])
    assert matches(path, "/".join("*" for _ in names))
    assert not matches(path, path + "/**")
    assert not matches(path, "/".join("*" for _ in [*names, 1]))
    assert matches("x/" + path, "x/**")
    assert matches("x/" + path, "x/**/" + names[-1])
