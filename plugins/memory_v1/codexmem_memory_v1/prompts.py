"""Questions to a model: the extraction of one session and the consolidation of the whole memory."""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.values.consolidate import AgentRequest, Change
from codexmem_hookspecs.values.extract import ExtractionRequest

from codexmem_memory_v1.lines import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Transcript, Workspace
    from codexmem_hookspecs.values.capture import Item

MARKER: Final = "codexmem-extraction-request"
"""First line of both prompts: the engine never captures a session that begins with it, for it is our own helper's."""

TRANSCRIPT_CHARS = 600_000
CUT = "\n\n[... the middle of the conversation is left out ...]\n\n"

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["rollout_summary", "rollout_slug", "raw_memory"],
    "properties": {
        "rollout_summary": {"type": "string"},
        "rollout_slug": {"type": "string"},
        "raw_memory": {"type": "string"},
    },
}

_CITATION = re.compile(r"[ \t]*<(memory-citation|oai-mem-citation)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_EXCLUDED = (("# agents.md instructions", "</instructions>"), ("<skill>", "</skill>"))
_CHANGES_SHOWN = 200


@cache
def template(name: str) -> str:
    """Text of ``templates/<name>.md``, read when it is first needed."""
    return resources.files(__package__).joinpath("templates", f"{name}.md").read_text(encoding="utf-8")


def filled(name: str, values: Mapping[str, str]) -> str:
    """A template with its ``{{ key }}`` places filled in one pass: what a value contains is never filled again."""
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: values[match.group(1)], template(name))


def extraction_request(transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
    """The question about one session, instructions and input together no longer than the budget (UTF-8)."""
    instructions = template("extract_system")
    session = transcript.session
    values = {
        "marker": MARKER,
        "session": one_line(session.id),
        "host": one_line(session.host),
        "cwd": one_line(session.cwd, 300) or "an unknown folder",
    }
    frame = filled("extract_input", {**values, "conversation": ""})
    left = budget_bytes - len(_utf8(instructions)) - len(_utf8(frame))
    text = _cut_bytes(_middle_cut(rendered(transcript), TRANSCRIPT_CHARS), max(0, left))
    return ExtractionRequest(
        instructions=instructions,
        input=filled("extract_input", {**values, "conversation": text}),
        schema=SCHEMA,
        schema_name="memory_v1",
    )


def rendered(items: Iterable[Item]) -> Iterator[str]:
    """The conversation in pieces, a ``### role`` block an item (opencode-codex-memory: V1 transcript rendering)."""
    for item in items:
        if item.role == "system":
            continue
        text = _CITATION.sub("", _said(item)).strip()
        if not text or (item.role == "user" and excluded(text)):
            continue
        yield f"### {item.role}\n{text}"


def excluded(text: str) -> bool:
    """Whether the whole text is project instructions or a skill that the harness put in."""
    lowered = text.strip().lower()
    return any(lowered.startswith(first) and lowered.endswith(last) for first, last in _EXCLUDED)


def consolidation_request(workspace: Workspace, changes: Sequence[Change]) -> AgentRequest:
    """What the consolidation agent is told: the rules, and what changed."""
    complete = all(workspace.read(path).strip() for path in ("MEMORY.md", "memory_summary.md"))
    lines = [f"- {change.status} {change.path}" for change in changes[:_CHANGES_SHOWN]]
    if len(changes) > _CHANGES_SHOWN:
        lines.append(f"- and {len(changes) - _CHANGES_SHOWN} more, all in the diff file")
    extensions = next(iter(workspace.walk("extensions")), "")
    prompt = filled(
        "consolidate_prompt",
        {
            "marker": MARKER,
            "mode": "INCREMENTAL" if complete else "INIT",
            "changes": "\n".join(lines) or "- none",
            "extensions": template("consolidate_extensions") if extensions else "",
        },
    )
    return AgentRequest(instructions=template("consolidate_system"), prompt=prompt)


def _said(item: Item) -> str:
    tool = item.tool
    if tool is None:
        return item.text
    name = tool.name or tool.id or "unknown"
    output = f"[error] {tool.output}" if tool.status == "failed" else tool.output
    return "\n".join(part for part in (f"[tool: {name}] {tool.input}".rstrip(), output) if part)


def _middle_cut(pieces: Iterable[str], limit: int) -> str:
    """The pieces joined by blank lines; of a longer text the first and the last half, never holding more than both."""
    half = limit // 2
    head: list[str] = []
    tail: deque[str] = deque()
    head_size = tail_size = total = 0
    for piece in pieces:
        part = piece if total == 0 else "\n\n" + piece
        total += len(part)
        if head_size < half:
            head.append(part[: half - head_size])
            part = part[half - head_size :]
            head_size += len(head[-1])
        if part:
            part = part[-half:]
            tail.append(part)
            tail_size += len(part)
            while tail_size - len(tail[0]) >= half:
                tail_size -= len(tail.popleft())
    end = "".join(tail)
    if total <= 2 * half:
        return "".join(head) + end
    return "".join(head) + CUT + end[-half:]


def _cut_bytes(text: str, limit: int) -> str:
    encoded = _utf8(text)
    if len(encoded) <= limit:
        return encoded.decode()
    keep = limit - len(_utf8(CUT))
    if keep <= 0:
        return ""
    head, tail = encoded[: (keep + 1) // 2], encoded[len(encoded) - keep // 2 :]
    return head.decode("utf-8", "ignore") + CUT + tail.decode("utf-8", "ignore")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
