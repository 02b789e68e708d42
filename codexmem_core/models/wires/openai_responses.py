"""OpenAI's Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.values.models import Message, Usage

from codexmem_core.models.exchange import Question, Said
from codexmem_core.models.wires.calls import tool_call, written
from codexmem_core.models.wires.events import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LAST = ("response.completed", "response.incomplete", "response.failed")


class ResponsesWire:
    """``POST /responses``. Nothing is stored at the provider (``store`` is false)."""

    path = "/responses"

    def body(self, question: Question) -> dict[str, Any]:
        """The request's JSON."""
        body: dict[str, Any] = {
            "model": question.model,
            "instructions": "\n\n".join(m.text for m in question.messages if m.role == "system"),
            "input": [item for message in question.messages for item in _items(message)],
            "store": False,
        }
        if question.schema is not None:
            form = {"type": "json_schema", "name": question.schema_name, "schema": question.schema, "strict": True}
            body["text"] = {"format": form}
        if question.tools:
            body["tools"] = [
                {"type": "function", "name": t.name, "description": t.summary, "parameters": t.schema, "strict": False}
                for t in question.tools
            ]
        if question.effort:
            body["reasoning"] = {"effort": question.effort}
        if question.max_tokens:
            body["max_output_tokens"] = question.max_tokens
        if question.stream:
            body["stream"] = True
        return body

    def said(self, payload: Mapping[str, Any]) -> Said:
        """The answer's JSON, understood. Raises ValueError."""
        output = payload.get("output")
        if not isinstance(output, list):
            raise ValueError("the answer has no output")  # noqa: TRY004 - one error for everything wrong
        items = [item for item in output if isinstance(item, dict)]
        parts = [
            part
            for item in items
            if item.get("type") == "message"
            for part in item.get("content") or ()
            if isinstance(part, dict)
        ]
        refusal = next((str(part.get("refusal")) for part in parts if part.get("type") == "refusal"), "")
        usage = payload.get("usage")
        return Said(
            text="".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text"),
            calls=tuple(
                tool_call(str(item.get("call_id") or item.get("id")), str(item.get("name")), item.get("arguments"))
                for item in items
                if item.get("type") == "function_call"
            ),
            usage=Usage(tokens_in=count(usage, "input_tokens"), tokens_out=count(usage, "output_tokens"))
            if usage
            else None,
            unfinished=refusal or _unfinished(payload),
        )

    def assembled(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """The last event's response; its items come from their own events when it holds none (some servers)."""
        items: list[object] = []
        for event in events:
            kind = event.get("type")
            if kind == "response.output_item.done":
                items.append(event.get("item"))
            elif kind == "error":
                return {"error": event.get("error") or event}
            elif kind in _LAST:
                response = event.get("response")
                whole = response if isinstance(response, dict) else {}
                return {**whole, "output": whole.get("output") or items}
        return None


def _items(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.answers, "output": message.text}
    elif message.role == "user":
        yield {"role": "user", "content": [{"type": "input_text", "text": message.text}]}
    elif message.role == "assistant":
        if message.text:
            yield {"role": "assistant", "content": [{"type": "output_text", "text": message.text}]}
        for call in message.calls:
            arguments = written(call.arguments)
            yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _unfinished(payload: Mapping[str, Any]) -> str:
    if payload.get("status") != "incomplete":
        return ""
    details = payload.get("incomplete_details")
    reason = str(details.get("reason")) if isinstance(details, dict) else "incomplete"
    return "length" if reason == "max_output_tokens" else reason
