"""What a model is asked, and what its answer must be."""

import pytest
from codexmem_hookspecs.memory_files.answers import texts
from codexmem_hookspecs.memory_files.conversation import excluded, said
from codexmem_hookspecs.memory_files.prompts import Templates, consolidation_request, extraction_request
from codexmem_hookspecs.testing.memory import DictWorkspace, ListTranscript
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse
from codexmem_hookspecs.values.consolidate import Change
from codexmem_hookspecs.values.extract import PROMPT_MARK

FIELDS = ("summary", "slug")


@pytest.fixture
def templates(tmp_path, monkeypatch):
    """Of a package that lies in a temporary folder."""
    folder = tmp_path / "heron_memory" / "templates"
    folder.mkdir(parents=True)
    (tmp_path / "heron_memory" / "__init__.py").touch()
    for name, text in {
        "extract_system": "Read it.",
        "extract_input": "{{ marker }}\n{{ session }} {{ host }} {{ cwd }}\n{{ conversation }}",
        "consolidate_system": "Rules.",
        "consolidate_prompt": "{{ marker }} {{ mode }}\n{{ changes }}\n{{ extensions }}",
        "consolidate_extensions": "Mind extensions/.",
    }.items():
        (folder / f"{name}.md").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return Templates("heron_memory")


def asked(templates, text, budget=1_000):
    def conversation(left):
        return text[:left]

    transcript = ListTranscript(Session(host="codex", id="s-1", cwd="/p\n/q"), [])
    return extraction_request(templates, transcript, budget, conversation, fields=FIELDS, schema_name="heron")


def test_a_question_begins_with_the_mark_and_asks_for_all_its_strings(templates):
    request = asked(templates, "What was said {{ host }}")
    assert request.input == f"{PROMPT_MARK}\ns-1 codex /p /q\nWhat was said {{{{ host }}}}"
    assert request.instructions == "Read it."
    assert request.schema["required"] == ["summary", "slug"]
    assert request.schema["additionalProperties"] is False


def test_the_conversation_gets_what_the_frame_leaves(templates):
    request = asked(templates, "x" * 2_000, budget=200)
    assert len(request.instructions + request.input) == 200
    assert asked(templates, "x" * 2_000, budget=10).input.endswith("/q\n")


def test_an_agent_is_told_what_changed_and_whether_there_was_something_before(templates):
    changes = [Change(status="A", path=f"rollout_summaries/{number}.md") for number in range(202)]
    first = consolidation_request(templates, DictWorkspace("m", {}), changes, ("memory_summary.md",))
    assert first.prompt.startswith(f"{PROMPT_MARK} INIT\n- A rollout_summaries/0.md\n")
    assert first.prompt.rstrip().endswith("- and 2 more, all in the diff file")
    files = {"memory_summary.md": "v1\n", "extensions/ad_hoc/instructions.md": "x"}
    later = consolidation_request(templates, DictWorkspace("m", files), [], ("memory_summary.md",))
    assert later.prompt == f"{PROMPT_MARK} INCREMENTAL\n- none\nMind extensions/."


def test_an_answer_has_all_its_strings_and_no_others():
    assert texts({"summary": "x", "slug": ""}, FIELDS, ()) == {"summary": "x", "slug": ""}
    for bad in (None, {}, {"summary": "x"}, {"summary": "x", "slug": 7}, {"summary": "x", "slug": "", "more": ""}):
        with pytest.raises(ValueError, match=r"\w"):
            texts(bad, FIELDS, ())
    with pytest.raises(ValueError, match="echoes the template"):
        texts({"summary": "# (a title)", "slug": ""}, FIELDS, ("(a title)",))


def test_what_is_said_has_no_citation_markup_and_a_tool_tells_its_failure():
    cited = "Done. <oai-mem-citation>\nx\n</oai-mem-citation>"
    assert said(Item(tier="final", role="assistant", position=1, parts=(Part("text", cited), Part("image")))) == (
        "Done.\n[image omitted]"
    )
    tool = ToolUse(id="1", name="sh", input="make", output="boom", status="failed")
    assert said(Item(tier="tool", role="tool", position=1, tool=tool)) == "[tool: sh] make\n[error] boom"


def test_instructions_that_a_harness_put_in_are_told_from_words():
    assert excluded("# AGENTS.md instructions for /p\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>")
    assert excluded(" <skill>\nname: x\n</skill>\n")
    assert not excluded("Read the <skill>x</skill> file")
