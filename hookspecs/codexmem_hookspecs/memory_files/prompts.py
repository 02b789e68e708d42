"""A memory's prompts: templates with places to fill, and what the requests of every memory have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.lines import one_line, size
from codexmem_hookspecs.values.consolidate import AgentRequest, Change
from codexmem_hookspecs.values.extract import PROMPT_MARK, ExtractionRequest

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Transcript, Workspace

_PLACE = re.compile(r"\{\{ (\w+) \}\}")
_CHANGES_SHOWN = 200


class Templates:
    """The files ``templates/<name>.md`` of a package, each read when it is first needed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def text(self, name: str) -> str:
        """As it stands there."""
        return _read(self._package, name)

    def filled(self, name: str, values: Mapping[str, str]) -> str:
        """With its ``{{ key }}`` places filled in one pass: what a value contains is never filled again.

        Raises KeyError for a place that has no value.
        """
        return _PLACE.sub(lambda match: values[match.group(1)], self.text(name))


def extraction_request(
    templates: Templates,
    transcript: Transcript,
    budget_bytes: int,
    conversation: Callable[[int], str],
    *,
    fields: Sequence[str],
    schema_name: str,
) -> ExtractionRequest:
    """The question about one session, instructions and input together no longer than the budget (UTF-8).

    Templates: ``extract_system``, and ``extract_input`` with the places marker, session, host, cwd and conversation.
    ``conversation`` gives the conversation in at most so many bytes. ``fields``: strings of the answer, all required.
    """
    instructions = templates.text("extract_system")
    session = transcript.session
    values = {
        "marker": PROMPT_MARK,
        "session": one_line(session.id),
        "host": one_line(session.host),
        "cwd": one_line(session.cwd, 300) or "an unknown folder",
    }
    frame = templates.filled("extract_input", {**values, "conversation": ""})
    text = conversation(max(0, budget_bytes - size(instructions) - size(frame)))
    return ExtractionRequest(
        instructions=instructions,
        input=templates.filled("extract_input", {**values, "conversation": text}),
        schema={
            "type": "object",
            "additionalProperties": False,
            "required": list(fields),
            "properties": {field: {"type": "string"} for field in fields},
        },
        schema_name=schema_name,
    )


def consolidation_request(
    templates: Templates, workspace: Workspace, changes: Sequence[Change], files: Sequence[str]
) -> AgentRequest:
    """What the consolidation agent is told: the rules, and what changed.

    Templates: ``consolidate_system``, ``consolidate_prompt`` with the places marker, mode, changes and extensions, and
    ``consolidate_extensions``, which stands there when there are any. The mode is INCREMENTAL when the memory's
    ``files`` are there, else INIT.
    """
    complete = all(workspace.read(path).strip() for path in files)
    lines = [f"- {change.status} {change.path}" for change in changes[:_CHANGES_SHOWN]]
    if len(changes) > _CHANGES_SHOWN:
        lines.append(f"- and {len(changes) - _CHANGES_SHOWN} more, all in the diff file")
    extensions = next(iter(workspace.walk("extensions")), "")
    prompt = templates.filled(
        "consolidate_prompt",
        {
            "marker": PROMPT_MARK,
            "mode": "INCREMENTAL" if complete else "INIT",
            "changes": "\n".join(lines) or "- none",
            "extensions": templates.text("consolidate_extensions") if extensions else "",
        },
    )
    return AgentRequest(instructions=templates.text("consolidate_system"), prompt=prompt)


@cache
def _read(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", f"{name}.md").read_text(encoding="utf-8")
