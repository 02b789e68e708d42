"""The shapes of what OpenCode's API and its command line tell (OpenCode 1.18)."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from codexmem_hookspecs.json_lines import NotUnderstood
from msgspec import Struct, field


class Times(Struct, gc=False):
    """UNIX milliseconds."""

    created: float = 0
    updated: float = 0
    completed: float | None = None
    end: float | None = None


class Revert(Struct, gc=False):
    """From where on a user took a session back."""

    messageID: str = ""  # noqa: N815 - the field's name
    partID: str = ""  # noqa: N815


class SessionInfo(Struct):
    """A session as ``/session`` and ``/experimental/session`` give it."""

    id: str
    title: str = ""
    directory: str = ""
    parentID: str | None = None  # noqa: N815 - the field's name
    metadata: dict[str, Any] | None = None
    time: Times = field(default_factory=Times)
    revert: Revert | None = None


class Conversation(Struct):
    """A session with everything that was said in it, as ``export`` prints it; the messages as they came."""

    info: SessionInfo
    messages: list[Any] = field(default_factory=list)


class ListedSession(Struct, gc=False):
    """The same as ``opencode session list`` gives it."""

    id: str
    title: str = ""
    directory: str = ""
    updated: float = 0


class ToolState(Struct):
    """How far a tool call is."""

    status: str = ""
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: dict[str, Any] | None = None


class Part(Struct):
    """A piece of a message."""

    type: str
    id: str = ""
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    metadata: dict[str, Any] | None = None
    time: Times | None = None
    mime: str | None = None
    tool: str | None = None
    callID: str | None = None  # noqa: N815
    state: ToolState | None = None
    prompt: str | None = None


class Paths(Struct, gc=False):
    """Where an agent worked."""

    cwd: str = ""


class MessageInfo(Struct):
    """Who said a message, and when."""

    id: str
    role: str
    time: Times = field(default_factory=Times)
    finish: str | None = None
    summary: Any = None
    path: Paths | None = None
    error: Any = None


class Message(Struct):
    """A message with its pieces, as they came."""

    info: MessageInfo
    parts: list[Any] = field(default_factory=list)


class ErrorData(Struct):
    """What is known of it."""

    message: str = ""
    statusCode: int = 0  # noqa: N815
    responseHeaders: dict[str, str] = field(default_factory=dict)  # noqa: N815


class PromptError(Struct):
    """Why a prompt failed; OpenCode tells it with status 200."""

    name: str = ""
    data: ErrorData = field(default_factory=ErrorData)


class PromptInfo(Struct):
    """The last message that a prompt led to."""

    structured: dict[str, Any] | None = None
    error: PromptError | None = None


class Prompted(Struct):
    """What came of a prompt."""

    info: PromptInfo
    parts: list[Part] = field(default_factory=list)


class CacheTokens(Struct):
    """Read from a provider's cache, and written to it."""

    read: float = 0
    write: float = 0


class Tokens(Struct):
    """As the provider counted them."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: CacheTokens = field(default_factory=CacheTokens)


class Spent(Struct):
    """A session's tokens so far."""

    tokens: Tokens = field(default_factory=Tokens)


T = TypeVar("T")


def understood(value: object, kind: type[T]) -> T:
    """A decoded value in one of these shapes. Raises NotUnderstood."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise NotUnderstood(f"unexpected shape: {error}") from None


def decoded(text: bytes) -> Any:
    """JSON that a program printed. Raises NotUnderstood."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotUnderstood(f"no JSON: {error}") from None
