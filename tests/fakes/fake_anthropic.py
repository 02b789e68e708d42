"""Anthropic's Messages API on loopback."""

from __future__ import annotations

import json

from fake_base import FakeServer, called, counted, said

KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}


class FakeAnthropic(FakeServer):
    """Answers ``POST /v1/messages``. A forced tool gets the step's ``json`` as its input."""

    def error_body(self, step):
        kind = step.get("type") or KINDS.get(step["error"], "api_error")
        return {"type": "error", "error": {"type": kind, "message": step.get("message", "scripted")}}

    def payload(self, asked, step, number):
        usage = counted(step)
        blocks = _blocks(asked, step, number)
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": asked.body["model"],
            "content": blocks,
            "stop_reason": step.get("stopped") or _stop(blocks),
            "usage": usage and {"input_tokens": usage[0], "cache_read_input_tokens": 0, "output_tokens": usage[1]},
        }

    def events(self, asked, step, number):
        def event(kind, **fields):
            return kind, {"type": kind, **fields}

        whole = self.payload(asked, step, number)
        usage = whole["usage"] or {}
        yield event("message_start", message={**whole, "content": [], "stop_reason": None})
        for at, block in enumerate(whole["content"]):
            begun, deltas = _pieces(block)
            yield event("content_block_start", index=at, content_block=begun)
            for delta in deltas:
                yield event("content_block_delta", index=at, delta=delta)
            if step.get("cut"):
                return
            yield event("content_block_stop", index=at)
        if step.get("stream_error"):
            yield event("error", error=step["stream_error"])
            return
        ends = {"output_tokens": usage["output_tokens"]} if usage else {}
        yield event("message_delta", delta={"stop_reason": whole["stop_reason"]}, usage=ends)
        yield event("message_stop")


def _blocks(asked, step, number):
    blocks = []
    if step.get("reasoning"):
        blocks.append({"type": "thinking", "thinking": step["reasoning"], "signature": "sig"})
    forced = asked.body.get("tool_choice", {}).get("name")
    if forced and "json" in step:
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": forced, "input": step["json"]})
    elif said(step) is not None:
        blocks.append({"type": "text", "text": said(step)})
    for at, tool in enumerate(called(step)):
        call = {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": tool["name"], "input": tool.get("args", {})}
        blocks.append(call)
    return blocks


def _pieces(block):
    if block["type"] == "text":
        middle = len(block["text"]) // 2
        texts = block["text"][:middle], block["text"][middle:]
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in texts]
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": ""}, [{"type": "thinking_delta", "thinking": block["thinking"]}]
    text = json.dumps(block["input"])
    parts = [{"type": "input_json_delta", "partial_json": part} for part in (text[:4], text[4:])]
    return {**block, "input": {}}, parts


def _stop(blocks):
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
