"""A conversation with tools over plain text: the model answers each time with one JSON action.

For models without tool calls of their own, and for programs that are given a prompt and print an answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codexmem_hookspecs.models.structured import object_in
from codexmem_hookspecs.values.models import Message, ToolCall, Turn, TurnRequest, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_hookspecs.values.read import ToolInfo

_RULES = """You work by actions. Answer with exactly one JSON object and nothing else:
{"tool": "<name>", "arguments": {...}} to use a tool; its result comes with the next message.
{"done": true} when everything is finished.

Tools:
"""
_UNREADABLE = "unreadable_action"
"""Name of the call that stands for an answer that is no action, so that the model is told so and goes on."""


def instructions(request: TurnRequest) -> str:
    """What the model is told first: the request's own instructions, the rules, and the tools."""
    system = [message.text for message in request.messages if message.role == "system"]
    return "\n\n".join([*system, _RULES + "\n".join(_tool(tool) for tool in request.tools)])


def conversation(messages: Sequence[Message]) -> str:
    """Everything that was said and done, as one text."""
    return "\n\n".join(part for message in messages for part in _said(message))


def turn(text: str, messages: Sequence[Message], usage: Usage) -> Turn:
    """The model's answer as a turn. An answer that is no action becomes a call whose problem says so."""
    number = 1 + sum(len(message.calls) for message in messages)
    call_id = f"action_{number}"
    try:
        action = object_in(text)
    except ValueError as error:
        return _not_read(text, call_id, f"{error}; answer with one JSON action", usage)
    if action.get("done") is True:
        return Turn(text=text, usage=usage)
    name, arguments = action.get("tool"), action.get("arguments", {})
    if not isinstance(name, str) or not name:
        return _not_read(text, call_id, 'an action has "tool" or "done"', usage)
    if not isinstance(arguments, dict):
        call = ToolCall(id=call_id, name=name, problem="the arguments are no JSON object")
    else:
        call = ToolCall(id=call_id, name=name, arguments=arguments)
    return Turn(calls=(call,), usage=usage)


def _not_read(text: str, call_id: str, problem: str, usage: Usage) -> Turn:
    return Turn(text=text, calls=(ToolCall(id=call_id, name=_UNREADABLE, problem=problem),), usage=usage)


def _tool(tool: ToolInfo) -> str:
    return f"- {tool.name}: {tool.summary}\n  arguments: {json.dumps(tool.schema, ensure_ascii=False)}"


def _said(message: Message) -> Iterator[str]:
    if message.role == "user":
        yield f"### user\n{message.text}"
    elif message.role == "tool":
        yield f"### result of {message.answers}\n{message.text}"
    elif message.role == "assistant":
        for call in message.calls:
            if call.name == _UNREADABLE:
                yield f"### your answer ({call.id})\n{message.text}"
            else:
                action = {"tool": call.name, "arguments": dict(call.arguments)}
                yield f"### your action ({call.id})\n{json.dumps(action, ensure_ascii=False)}"
        if not message.calls and message.text:
            yield f"### your answer\n{message.text}"
