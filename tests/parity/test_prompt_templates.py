"""The prompts of Memory V1: every place in a template is filled, once, and with exactly what was given."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from codexmem_hookspecs.testing.memory import SHOWN_TOOLS, DictWorkspace, ListTranscript
from codexmem_hookspecs.values.capture import Item, Part, Session
from codexmem_memory_v1 import plugin
from codexmem_memory_v1.prompts import TEMPLATES

PLACES = {
    "consolidate_extensions": set(),
    "consolidate_prompt": {"marker", "mode", "changes", "extensions"},
    "consolidate_system": set(),
    "context": {"lookup", "citing", "updating", "summary"},
    "context_citations": set(),
    "context_files": set(),
    "context_tools": {"memory_search", "memory_read"},
    "extract_input": {"marker", "session", "host", "cwd", "conversation"},
    "extract_system": set(),
}
ODD = r"$& $1 \1 \g<0> \n {{ cwd }} { } %s ${x}"


def test_templates_have_just_the_places_that_are_filled():
    folder = resources.files("codexmem_memory_v1").joinpath("templates")
    names = {path.name.removesuffix(".md") for path in folder.iterdir() if path.name.endswith(".md")}
    assert {name: set(re.findall(r"\{\{\s*(.*?)\s*\}\}", TEMPLATES.text(name))) for name in names} == PLACES


@pytest.mark.parametrize("name", [name for name, places in PLACES.items() if places])
def test_values_stand_as_they_were_given(name):
    text = TEMPLATES.filled(name, dict.fromkeys(PLACES[name], ODD))
    assert text.count(ODD) == len(PLACES[name])
    assert text == re.sub(r"\{\{ \w+ \}\}", lambda _: ODD, TEMPLATES.text(name))


def test_a_place_that_nobody_fills_is_an_error():
    with pytest.raises(KeyError):
        TEMPLATES.filled("extract_input", {"marker": "x"})


def test_whole_prompts_have_no_open_place():
    item = Item(tier="human", role="user", position=1, parts=(Part(kind="text", text="Put up the crane."),))
    transcript = ListTranscript(Session(host="codex", id="1"), [item])
    request = plugin.codexmem_extract_request(transcript=transcript, budget_bytes=100_000)
    texts = [request.instructions, request.input]
    for files in ({}, {"extensions/ad_hoc/instructions.md": "x"}):
        workspace = DictWorkspace("v1", {"memory_summary.md": "v1\n- short answers\n", **files})
        asked = plugin.codexmem_consolidate_request(workspace=workspace, changes=[])
        texts += [asked.instructions, asked.prompt]
        assert ("extensions/" in asked.prompt) == bool(files)
        texts.append(plugin.codexmem_read_summary(workspace=workspace, tools=SHOWN_TOOLS, citations=bool(files)))
    assert all(text.strip() and "{{" not in text for text in texts)
