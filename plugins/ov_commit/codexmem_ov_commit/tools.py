"""Tools for agents: read and search what OpenViking keeps, and commit the session now.

They ask the server's own routes, with the settings as they are at each call: a key that was changed counts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.read import Tool

from codexmem_ov_commit import utf16
from codexmem_ov_commit.pending import commit_session, commit_waiting
from codexmem_ov_commit.place import Place
from codexmem_ov_commit.profile import list_path, read_path
from codexmem_ov_commit.ranking import Found, found_in
from codexmem_ov_commit.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

    from codexmem_ov_commit.commits import Done
    from codexmem_ov_commit.server import Answer, Server

SCHEME: Final = "viking://"
MOST_LINES: Final = 2_000
LINES: Final = 400
"""Of one answer, unless more are asked for."""
MOST_UNITS: Final = 40_000
"""Longest text of one answer, UTF-16 units."""
MOST_FOUND, FOUND = 50, 10
BULLET_UNITS: Final = 400
NO_SUCH_FILE: Final = frozenset({400, 404, 405, 409})
"""Statuses by which a server may say that an address is a folder and no file."""
KINDS: Final = ("memories", "resources", "skills")


def tools() -> Sequence[Tool]:
    """What agents are offered."""
    return (
        Tool(
            name="openviking_read",
            summary="Read a file of OpenViking by its viking:// address, or list a folder (address ending in /).",
            schema=_schema(
                {
                    "uri": {"type": "string", "description": "viking:// address"},
                    "line_offset": {"type": "integer", "minimum": 1, "description": "first line, from 1"},
                    "max_lines": {"type": "integer", "minimum": 1, "maximum": MOST_LINES},
                },
                "uri",
            ),
            call=read,
            effect="reads",
        ),
        Tool(
            name="openviking_search",
            summary="Search what OpenViking remembers: memories, resources and skills, each with its address.",
            schema=_schema(
                {
                    "query": {"type": "string", "minLength": 1},
                    "uri": {"type": "string", "description": "only below this viking:// address"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND},
                },
                "query",
            ),
            call=search,
            effect="reads",
        ),
        Tool(
            name="openviking_commit_pending",
            summary="Commit this session to OpenViking now, with everything said so far. "
            "For when the user is about to leave.",
            schema=_schema({}),
            call=commit,
            effect="adds",
        ),
    )


def read(arguments: Mapping[str, object], session: Session, services: Services) -> str:
    """A window of a file, or a folder's entries. Raises Refused, OSError."""
    uri = _address(_text(arguments, "uri"))
    first = _number(arguments, "line_offset", 1, 1, 1_000_000_000)
    count = _number(arguments, "max_lines", LINES, 1, MOST_LINES)
    server = _server(session, services)
    if uri.endswith("/"):
        return _folder(server, uri)
    answer = server.get(read_path(uri))
    if not answer.ok and answer.status in NO_SUCH_FILE:
        return _folder(server, uri, instead=answer)
    text = _succeeded(answer).result
    if not isinstance(text, str):
        raise OSError(f"{uri}: the server's answer is no text")
    lines = text.split("\n")
    shown = utf16.head("\n".join(lines[first - 1 : first - 1 + count]), MOST_UNITS)
    last = first - 1 + len(shown.split("\n"))
    rest = f"\n[lines {first} to {last} of {len(lines)}; the rest with line_offset]" if last < len(lines) else ""
    return (wrapped(shown, "read") or f"{uri} is empty here") + rest


def search(arguments: Mapping[str, object], session: Session, services: Services) -> str:
    """The best finds, each with its address. Raises Refused, OSError."""
    query = _text(arguments, "query")
    limit = _number(arguments, "limit", FOUND, 1, MOST_FOUND)
    body: dict[str, object] = {"query": query, "limit": limit}
    if below := _text(arguments, "uri", needed=False):
        body["target_uri"] = _address(below)
    answer = _succeeded(_server(session, services).post("/api/v1/search/search", body))
    found = [one for kind in KINDS for one in found_in(answer.result, kind)]
    best = sorted(found, key=lambda one: -one.score)[:limit]
    return wrapped("\n".join(map(_line, best)), "search") or f"nothing found for {query!r}"


def commit(_arguments: Mapping[str, object], session: Session, services: Services) -> str:
    """What was committed: the calling session, or all that wait when it is not known."""
    if session.id:
        return _told(commit_session(services, session))
    return "\n".join(map(_told, commit_waiting(services))) or "nothing waits for a commit"


def _server(session: Session, services: Services) -> Server:
    """As the session's own directory sees it. Raises Refused, OSError when nobody is there."""
    place = Place.of(services, session.host or "codex", session.cwd)
    if place.passes_over(session):
        raise Refused("the settings let OpenViking pass over this session")
    _succeeded(place.reach.probe())
    return place.server


def _succeeded(answer: Answer) -> Answer:
    if not answer.ok:
        status = f" (HTTP {answer.status})" if answer.status else ""
        more = "" if answer.status in NO_SUCH_FILE else "; codexmem ov doctor says more"
        raise OSError(f"OpenViking: {answer.error or 'no answer'}{status}{more}")
    return answer


def _folder(server: Server, uri: str, instead: Answer | None = None) -> str:
    """Its entries; for what is no folder either, why it could not be read."""
    answer = server.get(list_path(SCHEME + uri.removeprefix(SCHEME).rstrip("/")))
    if not answer.ok and instead is not None:
        answer = instead
    listed = _succeeded(answer).result
    lines = [
        f"- {one.get('uri')}{'/' if one.get('isDir') else ''}"
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and one.get("uri")
    ]
    return utf16.head(wrapped("\n".join(lines), "list"), MOST_UNITS) or f"{uri} is empty"


def _line(one: Found) -> str:
    about = utf16.shortened(utf16.trimmed(utf16.ONE_LINE.sub(" ", one.text)), BULLET_UNITS)
    return f"- [{one.category}] {about} ({one.uri}, {one.score:.2f})"


def _told(done: Done) -> str:
    if done.result == "committed":
        return f"OpenViking session {done.name} is committed"
    why = f": {done.reason}" if done.reason else ""
    return f"OpenViking session {done.name}: {done.result.replace('_', ' ')}{why}"


def _address(uri: str) -> str:
    if not uri.lower().startswith(SCHEME):
        raise Refused(f"{uri!r} is no {SCHEME} address")
    return SCHEME + uri[len(SCHEME) :]


def _text(arguments: Mapping[str, object], name: str, *, needed: bool = True) -> str:
    value = arguments.get(name, "")
    if not isinstance(value, str) or (needed and not value.strip()):
        raise Refused(f"{name} must be a text that is not empty")
    return value.strip()


def _number(arguments: Mapping[str, object], name: str, default: int, low: int, high: int) -> int:
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refused(f"{name} must be a whole number from {low} to {high}")
    return value


def _schema(properties: dict[str, object], *required: str) -> Mapping[str, object]:
    return cast(
        "Mapping[str, object]",
        {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False},
    )
