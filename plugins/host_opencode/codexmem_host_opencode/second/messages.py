"""OpenCode 2's messages in the form of OpenCode 1, so that both are read alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CODE = "execute"
"""The tool whose program calls others; these are what was done."""
AT_WORK = {"streaming": "pending"}
SPOKEN = frozenset({"assistant", "compaction", "shell"})
"""Messages that are the agent's; all others stand on the user's side."""


def adapted(messages: Sequence[object], folder: str) -> list[object]:
    """Messages in their order. What is none comes as it is, to be told as not understood."""
    found: list[object] = []
    for message in messages:
        if not isinstance(message, dict):
            found.append(message)
            continue
        if message.get("type") == "location-switched":
            folder = _text(_mapping(message.get("location")).get("directory")) or folder
        found.append({"info": _info(message, folder), "parts": list(_parts(message))})
    return found


def _info(message: Mapping[str, object], folder: str) -> dict[str, object]:
    kind = _text(message.get("type"))
    told = {key: message[key] for key in ("id", "time", "finish", "error") if key in message}
    return {
        **told,
        "role": "assistant" if kind in SPOKEN else "user",
        "path": {"cwd": folder},
        "summary": kind == "compaction",
    }


def _parts(message: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    kind, text = message.get("type"), message.get("text")
    if kind == "user":
        yield {"type": "text", "text": text}
        for file in _listed(message.get("files")):
            yield {"type": "file", "mime": file.get("mime")}
    elif kind == "assistant":
        is_over = "completed" in _mapping(message.get("time")) or "error" in message
        for part in _listed(message.get("content")):
            yield from _spoken(part, is_over=is_over)
    elif kind == "compaction":
        yield {"type": "text", "text": message.get("summary")}
    elif kind == "shell":
        state = {"status": "completed", "input": {"command": message.get("command")}, "output": message.get("output")}
        yield {"type": "tool", "tool": "shell", "callID": message.get("shellID"), "state": state}
    elif isinstance(text, str):  # synthetic, system, skill, and what else may come
        yield {"type": "text", "text": text, "synthetic": True, "metadata": message.get("metadata")}


def _spoken(part: Mapping[str, object], *, is_over: bool) -> Iterator[Mapping[str, object]]:
    if part.get("type") == "text":
        # As long as the answer is being made its last text has no end.
        yield {"type": "text", "text": part.get("text"), **({} if is_over else {"time": {}})}
    elif part.get("type") == "tool":
        yield from _calls(part)


def _calls(part: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """A call; of one that ran a program, the calls of the program. The whole's output is the last one's."""
    state = _mapping(part.get("state"))
    inner = _listed(_mapping(state.get("metadata")).get("toolCalls")) if part.get("name") == CODE else []
    status = state.get("status")
    made = {
        "status": AT_WORK.get(str(status), status),
        "output": _words(state.get("content")),
        "error": _error(state.get("error")),
    }
    if not inner:
        yield _tool(part.get("name"), part.get("id"), {**made, "input": state.get("input")})
    for number, call in enumerate(inner, 1):
        output = {} if number == len(inner) else {"output": "", "error": None}
        told = {**made, **output, "input": call.get("input")}
        yield _tool(call.get("tool") or CODE, f"{part.get('id')}.{number}", told)


def _tool(name: object, call: object, state: Mapping[str, object]) -> Mapping[str, object]:
    return {"type": "tool", "tool": name, "callID": call, "state": state}


def _words(content: object) -> str | None:
    parts = [_text(part.get("text")) for part in _listed(content)]
    return "\n".join(filter(None, parts)) or None


def _error(error: object) -> object:
    return error.get("message", error) if isinstance(error, dict) else error


def _listed(value: object) -> Sequence[Mapping[str, object]]:
    rows: Iterable[object] = value if isinstance(value, list) else ()
    return [row for row in rows if isinstance(row, dict)]


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
