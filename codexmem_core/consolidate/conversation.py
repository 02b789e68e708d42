"""What the agent and the model have said, never longer than the model may be sent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.models import Message

from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.models import Turn

LEFT_OUT = "[left out to save room; call the tool again if you need it]"
_FRAME = 2
"""System message and prompt, which always stay."""
_SHORT = 1_000
_KEPT_SHARE = 0.7
"""When it grows too long it is cut to this share of the limit: cut at every turn, no provider could cache it."""


class Conversation:
    """Begins with the instructions and the prompt. Old results are left out first, then old arguments."""

    def __init__(self, instructions: str, prompt: str, limit_bytes: int) -> None:
        self._messages = [Message(role="system", text=_clear(instructions)), Message(role="user", text=_clear(prompt))]
        self._limit = limit_bytes

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it, as it may be sent."""
        if self._size() > self._limit:
            self._cut(int(self._limit * _KEPT_SHARE))
        return tuple(self._messages)

    def shrink(self) -> None:
        """From now on half as long as it is."""
        self._limit = min(self._limit, self._size()) // 2

    def add(self, turn: Turn, results: Sequence[str]) -> None:
        """What the model said, and the result of each of its calls."""
        self._messages.append(Message(role="assistant", text=turn.text, calls=turn.calls))
        for call, result in zip(turn.calls, results, strict=True):
            self._messages.append(Message(role="tool", text=result, answers=call.id))

    def _cut(self, wanted: int) -> None:
        """Oldest first, and nothing of the last exchange."""
        last = max((n for n, message in enumerate(self._messages) if message.role == "assistant"), default=_FRAME)
        size = self._size()
        for cut in (_without_result, _with_short_arguments):
            for number in range(_FRAME, last):
                if size <= wanted:
                    return
                message = self._messages[number]
                self._messages[number] = shorter = cut(message)
                size -= _bytes(message) - _bytes(shorter)

    def _size(self) -> int:
        return sum(_bytes(message) for message in self._messages)


def _without_result(message: Message) -> Message:
    if message.role == "assistant" or len(message.text) <= len(LEFT_OUT):
        return message
    return replace(message, text=LEFT_OUT)


def _with_short_arguments(message: Message) -> Message:
    calls = tuple(replace(call, arguments=_short(call.arguments)) for call in message.calls)
    text = message.text if len(message.text) <= _SHORT or message.role != "assistant" else message.text[:_SHORT]
    return replace(message, text=text, calls=calls)


def _short(arguments: Mapping[str, object]) -> dict[str, object]:
    return {
        name: LEFT_OUT if isinstance(value, str) and len(value) > _SHORT else value for name, value in arguments.items()
    }


def _bytes(message: Message) -> int:
    calls = sum(len(json.dumps(dict(call.arguments), default=str)) + len(call.name) for call in message.calls)
    return len(message.text.encode("utf-8", "replace")) + calls


def _clear(text: str) -> str:
    return clean(redact(text))
