"""Memory V2: a faithful recap of each session, and one summary for new sessions that leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.consolidate import AgentRequest, Change, Digest, Memory, Problem, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codexmem_hookspecs.services import Transcript, Workspace
    from codexmem_hookspecs.values.extract import Extraction, ExtractionRequest, Reply

__all__ = ["HOOK_API", "MEMORY", "MemoryV2", "plugin"]

HOOK_API = 1

MEMORY = Memory(
    name="v2",
    folder="memories_v2",
    database="memory_v2.db",
    agent_writes=("memory_summary.md", "generated_lines.txt"),
)


class MemoryV2:
    """The stages of the memory. Each imports its part when it is called, so that loading the plugin costs little."""

    @hookimpl
    def codexmem_memory(self) -> Iterable[Memory]:
        """Folder ``memories_v2``, database ``memory_v2.db``."""
        return (MEMORY,)

    @hookimpl
    def codexmem_extract_request(self, transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
        """The question about one session, with the conversation as evidence in tiers."""
        from codexmem_memory_v2.extraction import question

        return question(transcript, budget_bytes)

    @hookimpl
    def codexmem_extract_result(
        self,
        request: ExtractionRequest,  # noqa: ARG002 - the contract's signature
        reply: Reply,
    ) -> Extraction:
        """The recap, or NOTHING."""
        from codexmem_memory_v2.extraction import extraction

        return extraction(reply)

    @hookimpl
    def codexmem_consolidate_files(self, stored: Sequence[Stored]) -> Mapping[str, str]:  # noqa: ARG002 - as above
        """None: the recaps, which the engine writes, are all the input."""
        return {}

    @hookimpl
    def codexmem_consolidate_request(self, workspace: Workspace, changes: Sequence[Change]) -> AgentRequest:
        """What the consolidation agent is told."""
        from codexmem_hookspecs.memory_files.prompts import consolidation_request

        from codexmem_memory_v2.extraction import TEMPLATES

        return consolidation_request(TEMPLATES, workspace, changes, (MEMORY.summary,))

    @hookimpl
    def codexmem_consolidate_offline(
        self,
        workspace: Workspace,
        stored: Sequence[Stored],
        changes: Sequence[Change],  # noqa: ARG002 - the contract's signature
        digest: Digest,
    ) -> Mapping[str, str]:
        """memory_summary.md from the digest, the user's own text kept."""
        from codexmem_memory_v2.summary import offline

        return offline(workspace, stored, digest)

    @hookimpl
    def codexmem_consolidate_check(self, workspace: Workspace) -> Iterable[Problem]:
        """Why the summary is not valid."""
        from codexmem_memory_v2.check import problems

        return problems(workspace)

    @hookimpl
    def codexmem_read_summary(self, workspace: Workspace, tools: Mapping[str, str], citations: bool) -> str:  # noqa: FBT001 - as above
        """The context text."""
        from codexmem_hookspecs.memory_files.context import context

        from codexmem_memory_v2.extraction import TEMPLATES

        return context(TEMPLATES, workspace, tools=tools, citations=citations, summary_tokens=MEMORY.summary_tokens)


plugin = MemoryV2()
