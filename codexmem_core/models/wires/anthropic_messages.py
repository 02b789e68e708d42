"""Anthropic's Messages API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.values.models import Message, Usage

from codexmem_core.models.exchange import Question, Said
from codexmem_core.models.wires.calls import tool_call
from codexmem_core.models.wires.events import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANSWER_TOKENS = 16_000
"""Longest answer when the settings do not say: the API wants a number."""
_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_STOPPED = {"max_tokens": "length", "model_context_window_exceeded": "overflow", "refusal": "refused by the provider"}
_KEEP = {"cache_control": {"type": "ephemeral"}}


class MessagesWire:
    """``POST /v1/messages``. A schema is enforced by forcing one tool whose input it is."""

    path = "/v1/messages"

    def body(self, question: Question) -> dict[str, Any]:
        """The request's JSON."""
        system = "\n\n".join(m.text for m in question.messages if m.role == "system")
        body: dict[str, Any] = {
            "model": question.model,
            "max_tokens": question.max_tokens or ANSWER_TOKENS,
            "messages": _messages(question.messages),
        }
        if system:
            body["system"] = [{"type": "text", "text": system}]
        if question.schema is not None:
            name = question.schema_name
            body["tools"] = [{"name": name, "description": "Give the answer.", "input_schema": question.schema}]
            body["tool_choice"] = {"type": "tool", "name": name}
        elif question.tools:
            # The conversation so far is sent again with every turn: the provider keeps it, at a tenth of the price.
            body["tools"] = [
                {"name": t.name, "description": t.summary, "input_schema": t.schema} for t in question.tools
            ]
            for block in (*body.get("system", ())[-1:], *body["messages"][-1]["content"][-1:]):
                block.update(_KEEP)
        if question.effort:
            body["output_config"] = {"effort": question.effort}
        if question.stream:
            body["stream"] = True
        return body

    def said(self, payload: Mapping[str, Any]) -> Said:
        """The answer's JSON, understood. Raises ValueError."""
        content = payload.get("content")
        if not isinstance(content, list):
            raise ValueError("the answer has no content")  # noqa: TRY004 - one error for everything wrong
        blocks = [block for block in content if isinstance(block, dict)]
        calls = tuple(
            tool_call(str(block.get("id")), str(block.get("name")), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        usage = payload.get("usage")
        return Said(
            text="".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text"),
            data=calls[0].arguments if calls and not calls[0].problem else None,
            calls=calls,
            usage=Usage(tokens_in=count(usage, *_IN), tokens_out=count(usage, "output_tokens")) if usage else None,
            unfinished=_STOPPED.get(str(payload.get("stop_reason")), ""),
        )

    def assembled(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Blocks joined; complete once ``message_stop`` has come."""
        message: dict[str, Any] = {}
        blocks: dict[int, dict[str, Any]] = {}
        for event in events:
            index, kind = int(event.get("index") or 0), event.get("type")
            if kind == "error":
                return {"error": event.get("error") or event}
            if kind == "message_start":
                message = dict(event.get("message") or {})
            elif kind == "content_block_start":
                blocks[index] = dict(event.get("content_block") or {})
            elif kind == "content_block_delta" and index in blocks:
                _grow(blocks[index], event.get("delta") or {})
            elif kind == "message_delta":
                message["stop_reason"] = (event.get("delta") or {}).get("stop_reason")
                message["usage"] = {**(message.get("usage") or {}), **(event.get("usage") or {})}
            elif kind == "message_stop":
                return {**message, "content": [blocks[at] for at in sorted(blocks)]}
        return None


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """A block's next piece; a call's input comes as pieces of JSON text."""
    if delta.get("type") == "text_delta":
        block["text"] = block.get("text", "") + str(delta.get("text") or "")
    elif delta.get("type") == "input_json_delta":
        so_far = block.get("input")
        block["input"] = (so_far if isinstance(so_far, str) else "") + str(delta.get("partial_json") or "")


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Turns that alternate: results of tools are the user's, and neighbours of one role become one message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.answers, "content": message.text}]
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(json.dumps(dict(c.arguments)))}
        for c in message.calls
    ]
    return [*text, *calls]
