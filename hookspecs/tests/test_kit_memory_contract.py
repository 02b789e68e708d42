"""MemoryContract passes a small good memory, and notices what a bad one does wrong."""

import json
import re

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.testing import DictWorkspace, MemoryContract
from codexmem_hookspecs.values.consolidate import AgentRequest, Memory, Problem
from codexmem_hookspecs.values.extract import NOTHING, Extraction, ExtractionRequest

HOOK_API = 1
SCHEMA = {
    "type": "object",
    "properties": {"note": {"type": "string"}},
    "required": ["note"],
    "additionalProperties": False,
}
MARK = "<!-- ours: the lines below are written anew -->"
OURS = re.compile(r"- \S+\.md")


class Jotter:
    """A made-up memory: one list of one line a session, below whatever the user wrote."""

    @hookimpl
    def codexmem_memory(self):
        return [
            Memory(
                name="jotter",
                folder="jotter",
                database="jotter.db",
                generated=("raw.md",),
                agent_writes=("memory_*.md",),
            )
        ]

    @hookimpl
    def codexmem_extract_request(self, transcript, budget_bytes):
        text = "\n".join(item.text for item in transcript).encode()[:budget_bytes].decode(errors="ignore")
        return ExtractionRequest(instructions="Note it.", input=text, schema=SCHEMA)

    @hookimpl
    def codexmem_extract_result(self, request, reply):
        if reply.findings is not None:
            quotes = [preference.quote for preference in reply.findings.preferences]
            return Extraction(summary="\n".join(quotes)) if reply.findings.substance else NOTHING
        if reply.data is None or set(reply.data) != {"note"} or not isinstance(reply.data["note"], str):
            raise ValueError("the answer does not fit the schema")
        return Extraction(summary=reply.data["note"])

    @hookimpl
    def codexmem_consolidate_files(self, stored):
        return {"raw.md": "".join(f"{one.session.id} {one.extraction.summary}\n" for one in stored)}

    @hookimpl
    def codexmem_consolidate_request(self, workspace, changes):
        return AgentRequest(instructions="Merge.", prompt=json.dumps([change.path for change in changes]))

    @hookimpl
    def codexmem_consolidate_offline(self, workspace, stored, changes, digest):
        ours = [f"- {one.recap_file}" for one in stored]
        lines = workspace.read("memory_summary.md").split("\n")
        user = [line for line in lines if line and line != MARK and not OURS.fullmatch(line)]
        return {"memory_summary.md": "\n".join([*user, MARK, *ours, ""])}

    @hookimpl
    def codexmem_consolidate_check(self, workspace):
        return [] if workspace.read("memory_summary.md") else [Problem(path="memory_summary.md", message="missing")]

    @hookimpl
    def codexmem_read_summary(self, workspace, tools, citations):
        text = workspace.read("memory_summary.md").strip()
        return f"What is remembered:\n{text}" if text else ""


class TestJotter(MemoryContract):
    plugin = Jotter()


def bad(**hooks):
    """A jotter with hooks exchanged, as the contract sees it."""
    marked = {name: hookimpl(hook) if hook else None for name, hook in hooks.items()}
    contract = TestJotter()
    contract.plugin = type("BadJotter", (Jotter,), {"__module__": __name__, **marked})()
    return contract


def too_long(self, transcript, budget_bytes):
    return ExtractionRequest(instructions="i", input="x" * (budget_bytes + 1), schema=SCHEMA)


def lax(self, transcript, budget_bytes):
    return ExtractionRequest(instructions="i", input="x", schema={**SCHEMA, "additionalProperties": True})


def takes_all(self, request, reply):
    return Extraction(summary="something")


def elsewhere(self, stored):
    return {"elsewhere.md": "".join(one.session.id for one in stored)}


def only_findings(self, workspace, stored, changes, digest):
    return {"memory_summary.md": "".join(one.recap_file for one in stored if one.findings)}


def overwrites(self, workspace, stored, changes, digest):
    return {"memory_summary.md": "".join(one.recap_file for one in stored)}


def grows(self, workspace, stored, changes, digest):
    return {"memory_summary.md": workspace.read("memory_summary.md") + "".join(one.recap_file for one in stored)}


def writes_raw(self, workspace, stored, changes, digest):
    return {"raw.md": "".join(one.recap_file for one in stored)}


def counts(counter=iter(range(10**6))):  # noqa: B008 - one counter for all calls is what makes it impure
    return str(next(counter))


@pytest.mark.parametrize(
    ("contract", "test"),
    [
        (bad(codexmem_read_summary=None), "test_all_hooks_of_a_memory_are_there"),
        (
            bad(codexmem_memory=lambda self: [Memory(name="My Memory", folder="/m", database="m.db")]),
            "test_the_memory_describes_itself",
        ),
        (bad(codexmem_extract_request=too_long), "test_a_request_is_pure_and_within_its_budget"),
        (bad(codexmem_extract_request=lax), "test_the_schema_is_strict"),
        (bad(codexmem_extract_result=takes_all), "test_findings_without_substance_are_nothing"),
        (bad(codexmem_extract_result=takes_all), "test_findings_become_a_note"),
        (bad(codexmem_extract_result=takes_all), "test_a_reply_of_a_model_becomes_a_note"),
        (bad(codexmem_extract_result=takes_all), "test_an_invalid_reply_is_an_error"),
        (bad(codexmem_consolidate_files=elsewhere), "test_generated_files_stay_inside_their_patterns"),
        (
            bad(codexmem_consolidate_files=lambda self, stored: {"raw.md": counts()}),
            "test_generated_files_stay_inside_their_patterns",
        ),
        (
            bad(
                codexmem_consolidate_request=lambda self, workspace, changes: AgentRequest(
                    instructions="x", prompt=counts()
                )
            ),
            "test_the_agent_is_told_the_same_for_the_same_workspace",
        ),
        (
            bad(codexmem_consolidate_offline=writes_raw),
            "test_offline_consolidation_stays_inside_its_patterns_and_is_repeatable",
        ),
        (bad(codexmem_consolidate_offline=only_findings), "test_offline_consolidation_represents_every_session"),
        (
            bad(codexmem_consolidate_check=lambda self, workspace: []),
            "test_offline_consolidation_passes_the_memorys_own_check",
        ),
        (
            bad(codexmem_consolidate_check=lambda self, workspace: [Problem(path="x", message="no")]),
            "test_offline_consolidation_passes_the_memorys_own_check",
        ),
        (bad(codexmem_consolidate_offline=grows), "test_offline_consolidation_over_its_own_files_changes_nothing"),
        (bad(codexmem_consolidate_offline=overwrites), "test_what_a_user_wrote_stays"),
        (bad(codexmem_consolidate_offline=grows), "test_forgotten_sessions_leave_nothing_behind"),
        (
            bad(codexmem_read_summary=lambda self, workspace, tools, citations: "Hi"),
            "test_there_is_no_context_without_a_summary",
        ),
        (bad(codexmem_read_summary=lambda self, workspace, tools, citations: ""), "test_the_context_holds_the_summary"),
    ],
)
def test_what_a_bad_memory_does_wrong_is_noticed(contract, test):
    method = getattr(contract, test)
    arguments = (4_000,) if "budget" in method.__code__.co_varnames else ()
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        method(*arguments)


def test_a_workspace_is_what_its_dictionary_holds():
    workspace = DictWorkspace("v1", {"b/x.md": "1", "a.md": "2"})
    assert list(workspace.walk()) == ["a.md", "b/x.md"]
    assert list(workspace.walk("b")) == ["b/x.md"]
    assert (workspace.read("a.md"), workspace.read("c.md"), workspace.exists("c.md")) == ("2", "", False)
