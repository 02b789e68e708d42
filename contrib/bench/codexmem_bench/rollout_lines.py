"""The records of one rollout, field by field as Codex 0.171 writes them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from random import Random

JsonObject = dict[str, Any]

_LONGEST_EVENT_OUTPUT = 10_000
_USAGE = {
    "input_tokens": 12_345,
    "cached_input_tokens": 900,
    "output_tokens": 512,
    "reasoning_output_tokens": 64,
    "total_tokens": 12_857,
}


class RolloutLines:
    """Counts ordinals and lets time pass."""

    def __init__(self, session: str, began: datetime, cwd: str, random: Random) -> None:
        self.cwd = cwd
        self._session = session
        self._now = began
        self._random = random
        self._turn = f"{random.getrandbits(64):016x}"
        self._ordinal = 0
        self._sequence = 0

    def head(self, instructions: str, permissions: str, tools: list[JsonObject]) -> Iterator[bytes]:
        """What stands before the first words of the user."""
        yield self._line(
            "session_meta",
            {
                "session_id": self._session,
                "id": self._session,
                "timestamp": self._now.isoformat(),
                "cwd": self.cwd,
                "originator": "codex_exec",
                "cli_version": "0.171.0",
                "source": "exec",
                "thread_source": "user",
                "model_provider": "openai",
                "base_instructions": {"text": instructions},
                "history_mode": "paginated",
                "git": {},
            },
        )
        yield self.event("task_started", root_turn_id=self._turn, model_context_window=258_400)
        yield self._item({"type": "additional_tools", "id": "at_1", "role": "developer", "tools": tools})
        yield self._message("developer", "permissions.instructions", [_input_text(permissions)])
        environment = f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n</environment_context>"
        yield self._message("user", "environments.environment_context", [_input_text(environment)])
        policy = {"type": "danger-full-access"}
        context = {"cwd": self.cwd, "approval_policy": "never", "model": "gpt-5.6", "sandbox_policy": policy}
        yield self._line("turn_context", {"turn_id": self._turn} | context)

    def said_by_user(self, text: str, image: str) -> Iterator[bytes]:
        """A prompt; ``image`` is base64 or empty."""
        content = [_input_text(text)]
        if image:
            url = "data:image/png;base64," + image
            content.append({"type": "input_image", "image_url": url, "detail": "original"})
        yield self._message("user", "user.text", content)
        yield self._completed("UserMessage", content=[{"type": "text", "text": text, "text_elements": []}])

    def said_by_agent(self, text: str) -> Iterator[bytes]:
        """Commentary."""
        yield self._completed("AgentMessage", content=[{"type": "Text", "text": text}], phase="commentary")
        yield self._message("assistant", "unknown", [{"type": "output_text", "text": text}], phase="commentary")

    def reasoning(self, summary: str, encrypted: str) -> bytes:
        """What the model thought, which nobody can read."""
        shown = [{"type": "summary_text", "text": summary}]
        return self._item({"type": "reasoning", "summary": shown, "content": None, "encrypted_content": encrypted})

    def tool_call(self, command: str, output: str, *, custom: bool) -> Iterator[bytes]:
        """A call, its event, its output and the tokens so far."""
        call = f"call_{self._ordinal}"
        result: str | list[JsonObject] = output
        if custom:
            script = f"const r = await tools.exec_command({msgspec.json.encode({'cmd': command}).decode()}); text(r)"
            asked = {"type": "custom_tool_call", "status": "completed", "name": "exec", "input": script}
            result = [_input_text("Script completed\nOutput:\n"), _input_text(output)]
        else:
            arguments = msgspec.json.encode({"cmd": command, "yield_time_ms": 1000}).decode()
            asked = {"type": "function_call", "name": "exec_command", "arguments": arguments}
        yield self._item(asked | {"call_id": call})
        yield self._completed(
            "CommandExecution",
            command=["/bin/bash", "-lc", command],
            cwd="file://" + self.cwd,
            status="completed",
            aggregated_output=output[:_LONGEST_EVENT_OUTPUT],
            exit_code=0,
            duration={"secs": 0, "nanos": 157_556_471},
        )
        yield self._item({"type": asked["type"] + "_output", "call_id": call, "output": result})
        usage = {"total_token_usage": _USAGE, "last_token_usage": _USAGE, "model_context_window": 258_400}
        yield self.event("token_count", info=usage)

    def event(self, kind: str, **fields: object) -> bytes:
        """Something that happened around the conversation."""
        return self._line("event_msg", {"type": kind, "turn_id": self._turn} | fields)

    def _message(self, role: str, origin: str, content: list[JsonObject], **fields: str) -> bytes:
        passthrough = {"turn_id": self._turn, "create_time": 1796052162.385336, "content_item_kinds": [origin]}
        message = {"type": "message", "role": role, "content": content}
        return self._item(message | fields | {"internal_chat_message_metadata_passthrough": passthrough})

    def _completed(self, kind: str, **fields: object) -> bytes:
        item = {"type": kind, "id": f"item_{self._ordinal}"} | fields
        at_ms = int(self._now.timestamp() * 1000)
        return self.event("item_completed", thread_id=self._session, item=item, completed_at_ms=at_ms)

    def _item(self, payload: JsonObject) -> bytes:
        self._sequence += 1
        metadata = {
            "history_sequence": self._sequence,
            "sampled_through_sequence": 0,
            "client_authored": False,
            "model_search_state": "unused",
        }
        return self._line("response_item", {"type": payload["type"], "id": f"i_{self._ordinal}"} | payload, metadata)

    def _line(self, kind: str, payload: JsonObject, metadata: JsonObject | None = None) -> bytes:
        self._now += timedelta(milliseconds=self._random.randint(5, 4000))
        stamp = self._now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._now.microsecond // 1000:03d}Z"
        record = {"timestamp": stamp, "ordinal": self._ordinal, "type": kind, "payload": payload}
        self._ordinal += 1
        return msgspec.json.encode(record | ({"metadata": metadata} if metadata else {})) + b"\n"


def _input_text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}
