"""OpenAI's Chat Completions, which Ollama, vLLM, LM Studio and llama.cpp speak as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.values.models import Message, Usage

from codexmem_core.models.exchange import Question, Said
from codexmem_core.models.wires.calls import tool_call, written
from codexmem_core.models.wires.events import END, count, merged_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChatWire:
    """``POST /chat/completions``."""

    path = "/chat/completions"

    def body(self, question: Question) -> dict[str, Any]:
        """The request's JSON."""
        body: dict[str, Any] = {"model": question.model, "messages": [_message(m) for m in question.messages]}
        if question.schema is not None:
            form = {"name": question.schema_name, "schema": question.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if question.tools:
            body["tools"] = [
                {"type": "function", "function": {"name": t.name, "description": t.summary, "parameters": t.schema}}
                for t in question.tools
            ]
        if question.effort:
            body["reasoning_effort"] = question.effort
        if question.max_tokens:
            body["max_completion_tokens"] = question.max_tokens
        if question.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def said(self, payload: Mapping[str, Any]) -> Said:
        """The answer's JSON, understood. Raises ValueError."""
        choices = payload.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(message, dict):
            raise ValueError("the answer has no message")  # noqa: TRY004 - one error for everything wrong
        usage = payload.get("usage")
        reason = first.get("finish_reason")
        stopped = {"length": "length", "content_filter": "content_filter"}.get(str(reason), "")
        calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
        return Said(
            text=merged_text(message.get("content")),
            calls=tuple(
                tool_call(str(call.get("id") or f"call_{number}"), str(_function(call).get("name")), _arguments(call))
                for number, call in enumerate(calls)
            ),
            usage=Usage(tokens_in=count(usage, "prompt_tokens"), tokens_out=count(usage, "completion_tokens"))
            if usage
            else None,
            unfinished=str(message.get("refusal") or "") or stopped,
        )

    def assembled(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Deltas joined; complete once a finish reason has come."""
        message: dict[str, Any] = {"content": ""}
        calls: dict[int, dict[str, Any]] = {}
        reason: object = None
        usage: object = None
        for event in events:
            if event.get("error"):
                return {"error": event["error"]}
            if event.get("type") == END:
                break
            usage = event.get("usage") or usage
            for choice in event.get("choices") or ():
                delta = choice.get("delta") or {}
                message["content"] += merged_text(delta.get("content"))
                if delta.get("refusal"):
                    message["refusal"] = message.get("refusal", "") + str(delta["refusal"])
                for part in delta.get("tool_calls") or ():
                    _join(calls, part)
                reason = choice.get("finish_reason") or reason
        if reason is None:
            return None
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.answers, "content": message.text}
    spelled: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        spelled["content"] = message.text or None
        spelled["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": written(c.arguments)}}
            for c in message.calls
        ]
    return spelled


def _join(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    """One piece of a call: the first has its id and name, the rest pieces of its arguments."""
    index = part.get("index")
    call = calls.setdefault(index if isinstance(index, int) else len(calls), {"function": {"arguments": ""}})
    if part.get("id"):
        call["id"] = part["id"]
    function = _function(part)
    if function.get("name"):
        call["function"]["name"] = function["name"]
    call["function"]["arguments"] += str(function.get("arguments") or "")


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    return function if isinstance(function, dict) else {}


def _arguments(call: Mapping[str, Any]) -> object:
    return _function(call).get("arguments")
