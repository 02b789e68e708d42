"""What a tool gave back, in the forms that Codex has used, and whether it failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from codexmem_host_codex.records import Payload, Piece

Status = Literal["completed", "failed"]

EXIT = re.compile(r"^(?:Process exited with code|Exit code:|exit code) *(-?\d+)", re.MULTILINE)
SCRIPT_FAILED = ("Script failed", "Script error")
NESTED_EXIT = re.compile(r'"exit_code":\s*(-?\d+)')
HEAD = 400
"""Characters in which the harness's own lines stand; what a command printed comes after them."""


class Metadata(msgspec.Struct, gc=False):
    """How a command of older Codex ended."""

    exit_code: int | None = None


class Wrapped(msgspec.Struct, gc=False):
    """An output that older Codex wrote as JSON inside a string."""

    output: str
    metadata: Metadata


def outcome(payload: Payload) -> tuple[str, Status]:
    """The whole output as text, and whether the tool says that it failed."""
    output = payload.output
    success: bool | None = None
    if output is None:
        return bytes(payload.tools).decode(), "completed"
    if not isinstance(output, (str, list)):
        success, output = output.success, output.content or ""
    text = output if isinstance(output, str) else "\n".join(filter(None, map(piece_text, output)))
    if success is None:
        text, success = judged(text)
    return text, "completed" if success else "failed"


def piece_text(piece: Piece) -> str:
    """A part of an output; what is no text leaves a mark."""
    if piece.text is not None:
        return piece.text
    kind = piece.type.removeprefix("input_")
    return "" if kind == "encrypted_content" else f"[{kind or 'part'} omitted]"


def judged(text: str) -> tuple[str, bool]:
    """The output without its JSON wrapping, and whether it went well as far as the harness's own lines say."""
    if text.startswith('{"output":'):
        try:
            wrapped = msgspec.json.decode(text, type=Wrapped)
        except (ValueError, RecursionError):
            return text, True
        return wrapped.output, not wrapped.metadata.exit_code
    head = text[:HEAD]
    if head.startswith("Script "):
        nested = NESTED_EXIT.search(head) if "exit_code" in head else None
        return text, not (head.startswith(SCRIPT_FAILED) or (nested and nested[1] != "0"))
    found = EXIT.search(head.split("\nOutput:\n", 1)[0]) if "xit" in head else None
    return text, found is None or found[1] == "0"
