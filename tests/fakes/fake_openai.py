"""OpenAI's API on loopback: Responses and Chat Completions."""

from __future__ import annotations

import json

from fake_base import FakeServer, called, counted, said


class FakeOpenAI(FakeServer):
    """Answers ``POST /v1/responses`` and ``POST /v1/chat/completions``."""

    def error_body(self, step):
        return {
            "error": {"message": step.get("message", "scripted"), "type": step.get("type"), "code": step.get("code")}
        }

    def payload(self, asked, step, number):
        return _chat(asked, step, number) if _is_chat(asked) else _response(asked, step, _items(step, number))

    def events(self, asked, step, number):
        return _chat_events(step, number) if _is_chat(asked) else _response_events(asked, step, number)


def _is_chat(asked):
    return asked.path.endswith("/chat/completions")


def _items(step, number):
    items = []
    if step.get("reasoning"):
        summary = [{"type": "summary_text", "text": step["reasoning"]}]
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary})
    if step.get("refusal"):
        content = [{"type": "refusal", "refusal": step["refusal"]}]
        items.append({"type": "message", "role": "assistant", "content": content})
    elif said(step) is not None:
        content = [{"type": "output_text", "text": said(step), "annotations": []}]
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for at, tool in enumerate(called(step)):
        items.append(
            {
                "type": "function_call", "id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}",
                "name": tool["name"], "arguments": tool.get("raw", json.dumps(tool.get("args", {}))),
                **({"namespace": tool["namespace"]} if "namespace" in tool else {}),
            }
        )  # fmt: skip
    return items


def _response(asked, step, items):
    usage = counted(step)
    length = step.get("stopped") == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "status": "incomplete" if length else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if length else None,
        "model": asked.body["model"],
        "output": items,
        "usage": usage and {"input_tokens": usage[0], "output_tokens": usage[1], "total_tokens": sum(usage)},
    }


def _response_events(asked, step, number):
    items = _items(step, number)
    yield "response.created", {"type": "response.created", "response": {"status": "in_progress", "output": []}}
    for at, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": at, "item": item}
        if step.get("cut"):
            return
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": item}
    if step.get("stream_error"):
        error = step["stream_error"]
        code = error.get("code") or error.get("type")
        yield "error", {"type": "error", "code": code, "message": error["message"]}
        return
    # Some servers leave the items out of the last event.
    yield "response.completed", {"type": "response.completed", "response": _response(asked, step, [])}


def _calls(step, number):
    return [
        {
            "id": f"call_{number}_{at}",
            "type": "function",
            "function": {"name": tool["name"], "arguments": tool.get("raw", json.dumps(tool.get("args", {})))},
        }
        for at, tool in enumerate(called(step))
    ]


def _chat(asked, step, number):
    message = {"role": "assistant", "content": said(step), "refusal": step.get("refusal")}
    if calls := _calls(step, number):
        message["tool_calls"] = calls
    usage = counted(step)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "model": asked.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": step.get("stopped") or _finish(step)}],
        "usage": usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
    }


def _chat_events(step, number):
    def chunk(delta, reason=None):
        return "", {"object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    text = said(step) or ""
    middle = len(text) // 2
    yield chunk({"content": text[:middle]})
    if step.get("cut"):
        return
    if step.get("stream_error"):
        yield "", {"error": step["stream_error"]}
        return
    yield chunk({"content": text[middle:]})
    for at, call in enumerate(_calls(step, number)):
        arguments = call["function"]["arguments"]
        first = {**call, "index": at, "function": {"name": call["function"]["name"], "arguments": arguments[:3]}}
        yield chunk({"tool_calls": [first]})
        yield chunk({"tool_calls": [{"index": at, "function": {"arguments": arguments[3:]}}]})
    yield chunk({}, step.get("stopped") or _finish(step))
    if usage := counted(step):
        yield "", {"choices": [], "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}}
    yield "", "[DONE]"


def _finish(step):
    return "tool_calls" if called(step) else "stop"
