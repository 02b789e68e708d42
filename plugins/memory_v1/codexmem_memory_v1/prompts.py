"""Questions to a model: the extraction of one session and the consolidation of the whole memory."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from codexmem_hookspecs.cuts import cut_bytes
from codexmem_hookspecs.memory_files import prompts
from codexmem_hookspecs.memory_files.conversation import excluded, said
from codexmem_hookspecs.memory_files.lines import utf8

from codexmem_memory_v1.extraction import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.services import Transcript
    from codexmem_hookspecs.values.capture import Item
    from codexmem_hookspecs.values.extract import ExtractionRequest

TEMPLATES = prompts.Templates(__package__)
TRANSCRIPT_CHARS = 600_000
CUT = "\n\n[... the middle of the conversation is left out ...]\n\n"


def extraction_request(transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
    """The question about one session."""

    def conversation(left: int) -> str:
        text = _middle_cut(rendered(transcript), TRANSCRIPT_CHARS)
        return cut_bytes(utf8(text).decode(), left, CUT)

    return prompts.extraction_request(
        TEMPLATES, transcript, budget_bytes, conversation, fields=FIELDS, schema_name="memory_v1"
    )


def rendered(items: Iterable[Item]) -> Iterator[str]:
    """The conversation in pieces, a ``### role`` block an item (opencode-codex-memory: V1 transcript rendering)."""
    for item in items:
        if item.role == "system":
            continue
        text = said(item)
        if not text or (item.role == "user" and excluded(text)):
            continue
        yield f"### {item.role}\n{text}"


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
