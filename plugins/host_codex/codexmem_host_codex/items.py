"""A response item of the model becomes items with a tier: whose words they are (Codex 0.171, tiered evidence)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec
from codexmem_hookspecs.values.capture import Item, Part, ToolUse

from codexmem_host_codex.outputs import outcome
from codexmem_host_codex.records import Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codexmem_hookspecs.json_lines import Place
    from codexmem_hookspecs.values.capture import Tier

    from codexmem_host_codex.records import Payload

HOOK_CONTEXT = "hooks.additional_context"
QUESTION = "request_user_input"
"""The tool by which the agent asks the user; its answer is the user's own word."""

CALLS = {
    "function_call": "",
    "custom_tool_call": "",
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
}
"""Kinds of calls, with the name of those whose kind is their name."""
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})

CONTEXT_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<hook_prompt",
    "<skill>",
    "# agents.md instructions",
)
"""How text that the harness put into the user's mouth begins, where nothing else tells (older Codex)."""
FRAGMENTS = (("# agents.md instructions", "</instructions>"), ("<skill>", "</skill>"))
"""Files that are quoted whole. They are on disk and nobody said them, so they are left out."""
AGENT_HEADER = re.compile(r"Message Type:.*\n(?:.*\n){0,3}?Task name:.*\n(?:.*\n){0,3}?Sender:", re.IGNORECASE)
IMAGE_TAG = re.compile(r"</image>|<image name=[^>]{0,1000}>")

STATUS: dict[str, Literal["started", "completed", "failed"]] = {
    "completed": "completed",
    "in_progress": "started",
    "searching": "started",
    "failed": "failed",
    "incomplete": "failed",
}
PLACEHOLDERS: dict[str, Literal["image", "audio", "file"]] = {
    "input_image": "image",
    "output_image": "image",
    "input_audio": "audio",
    "output_audio": "audio",
    "input_file": "file",
}


def items(payload: Payload, place: Place, question: Callable[[str], str | None]) -> Iterable[Item]:
    """The items of one response item; none for reasoning, host prompts, compaction and kinds not known.

    ``question`` gives the arguments of an earlier call of the question tool, or None when that id was no question.
    """
    kind = payload.type
    if kind in CALLS:
        return (place.done(call(payload), "assistant"),)
    if kind in OUTPUTS:
        return (result(payload, place, question),)
    if kind == "message":
        if payload.role == "user":
            return from_user(payload, place)
        if payload.role == "assistant":
            return said(final_tier(payload), "assistant", payload, place)
        return from_harness(payload, place)
    return said("other_agent", "assistant", payload, place) if kind == "agent_message" else ()


def said(tier: Tier, role: Literal["user", "assistant", "system"], payload: Payload, place: Place) -> tuple[Item, ...]:
    """All content of a message as one item; none when it holds nothing."""
    spoken = parts(payload.content)
    return (place.said(tier, role, spoken),) if spoken else ()


def final_tier(payload: Payload) -> Tier:
    """An answer, unless Codex says that the agent was thinking aloud."""
    return "commentary" if payload.phase == "commentary" else "final"


def from_user(payload: Payload, place: Place) -> Iterable[Item]:
    """A message of role user, in up to one item a tier: the harness speaks in the user's name too."""
    kinds = (payload.passthrough.content_item_kinds if payload.passthrough else None) or []
    pieces = [Piece(text=payload.content)] if isinstance(payload.content, str) else payload.content or []
    tiers: dict[Tier, tuple[Part, ...]] = {}
    for number, piece in enumerate(pieces):
        kind = kinds[number] if len(kinds) == len(pieces) else (kinds[0] if kinds else "")
        text = piece.text or ""
        if not fragment(text) and (spoken := parts([piece])):
            tier = user_tier(kind, text)
            tiers[tier] = tiers.get(tier, ()) + spoken
    return [place.said(tier, "user", spoken) for tier, spoken in tiers.items()]


def user_tier(kind: str, text: str) -> Tier:
    """Whose words a part of a user message holds. The kind that Codex notes decides; without one, how it begins."""
    start = text[:600].lstrip().lower()
    if kind.startswith("multi_agent."):
        return "other_agent"
    if kind.startswith("user."):
        return "context" if start.startswith("<environment_context>") else "human"
    if start.startswith("<subagent_notification>") or AGENT_HEADER.match(start):
        return "other_agent"
    if kind or start.startswith(CONTEXT_PREFIXES):
        return "context"
    return "human"


def fragment(text: str) -> bool:
    """Whether a part is nothing but a quoted instruction file or skill."""
    if text[:80].lstrip()[:1] not in {"#", "<"}:
        return False
    whole = text.strip()
    start, end = whole[:40].lower(), whole[-20:].lower()
    return any(start.startswith(opening) and end.endswith(closing) for opening, closing in FRAGMENTS)


def from_harness(payload: Payload, place: Place) -> Iterable[Item]:
    """A developer message: kept when a hook gave it, or when nothing says who did. Host prompts are not kept."""
    kinds = (payload.passthrough.content_item_kinds if payload.passthrough else None) or []
    return () if kinds and HOOK_CONTEXT not in kinds else said("context", "system", payload, place)


def parts(content: str | list[Piece] | None) -> tuple[Part, ...]:
    """Content as parts: text as it is, anything else as a placeholder. Encrypted parts are left out."""
    found: list[Part] = []
    for piece in [Piece(text=content)] if isinstance(content, str) else content or ():
        text = piece.text or piece.refusal
        if text:
            if text[-1] != ">" or not IMAGE_TAG.fullmatch(text.strip()):
                found.append(Part("text", text))
        elif piece.type in PLACEHOLDERS:
            found.append(Part(kind=PLACEHOLDERS[piece.type]))
    return tuple(found)


def call(payload: Payload) -> ToolUse:
    """A call with everything that was asked."""
    name = CALLS[payload.type] or payload.name or ""
    if payload.namespace:
        name = f"{payload.namespace}{joint(payload.namespace)}{name}"
    if isinstance(payload.arguments, dict):
        asked = msgspec.json.encode(payload.arguments).decode()
    else:
        asked = payload.arguments or payload.input or bytes(payload.action).decode()
    return ToolUse(payload.call_id or payload.id or "", name, STATUS.get(payload.status or "", "started"), asked)


def joint(namespace: str) -> str:
    """What stands between a namespace and a name: tools of MCP servers are called as hooks and code mode call them."""
    if namespace.startswith("mcp__"):
        return "" if namespace.endswith("__") else "__"
    return "."


def result(payload: Payload, place: Place, question: Callable[[str], str | None]) -> Item:
    """A result; when it is the user's answer to a question, it is the user who speaks."""
    call_id = payload.call_id or payload.id or ""
    text, status = outcome(payload)
    if answered(text) and (asked := question(call_id)) is not None:
        return place.answered(asked, text)
    return place.done(ToolUse(call_id, "", status, "", text), "tool")


def answered(text: str) -> bool:
    """Whether an output has the form of answers of the question tool, and one of them is not blank."""
    if not text.startswith("{") or '"answers"' not in text:
        return False
    try:
        answers = msgspec.json.decode(text, type=Answers).answers
    except (ValueError, RecursionError):
        return False
    return any(line.strip() for answer in answers.values() for line in answer.answers)


class AnswerTo(msgspec.Struct):
    """Answers to one question."""

    answers: list[str]


class Answers(msgspec.Struct):
    """What the question tool returns."""

    answers: dict[str, AnswerTo]
