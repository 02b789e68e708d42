"""What the memory tools may be asked, as types: the JSON schemas that agents see are made from them.

An unknown argument is refused (Codex 0.171). Paths are relative to the memory's root, with ``/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from codexmem_core.readpath.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping

MatchMode = Literal["any", "all_on_same_line", "all_within_lines", "ranked"]
Path = Annotated[str, Meta(description="Relative to the memory's root, with /.")]
Cursor = Annotated[str, Meta(description="next_cursor of the answer before.")]
MaxResults = Annotated[int, Meta(ge=1, le=200)]
Count = Annotated[int, Meta(ge=0, le=100)]
Positive = Annotated[int, Meta(ge=1)]
SEARCH_LIMIT = 200
RANKED_LIMIT = 10
LIST_LIMIT = 2_000
NOTE_LIMIT = 4_000
"""Characters."""
TITLE_LIMIT = 120


class Search(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_search."""

    queries: Annotated[
        list[str], Meta(description="What to look for; at least one unless since or until is given.")
    ] = msgspec.field(default_factory=list)
    match_mode: Annotated[
        MatchMode,
        Meta(
            description="any: lines that hold any query. all_on_same_line: all queries. all_within_lines: windows of"
            " line_count lines that hold all. ranked: best passages for a question in plain words."
        ),
    ] = "any"
    line_count: Positive | None = None
    path: Path = ""
    cursor: Cursor = ""
    context_lines: Count = 0
    case_sensitive: bool = True
    normalized: Annotated[bool, Meta(description="Compare letters and digits only.")] = False
    since: Annotated[
        str, Meta(description="YYYY-MM-DD or ISO time: only files whose name states a time from then on.")
    ] = ""
    until: Annotated[str, Meta(description="YYYY-MM-DD (the whole day) or ISO time.")] = ""
    max_results: MaxResults | None = None


class Read(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_read."""

    path: Path
    line_offset: Annotated[int, Meta(ge=1, description="First line, counted from 1.")] = 1
    max_lines: Positive | None = None


class List(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_list."""

    path: Path = ""
    cursor: Cursor = ""
    max_results: Annotated[int, Meta(ge=1, le=LIST_LIMIT)] = LIST_LIMIT


class Note(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_add_note."""

    note: Annotated[str, Meta(max_length=NOTE_LIMIT, description="What to remember; 1 to 4,000 characters.")]
    title: Annotated[str, Meta(max_length=TITLE_LIMIT)] = ""


class Reset(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_reset: none. The user is asked, not the model."""


class Inspect(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_inspect."""

    min_consolidated_threads: Annotated[int, Meta(ge=1, le=4096)] | None = None


class Mode(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Arguments of memory_mode."""

    mode: Annotated[
        Literal["enabled", "disabled", "polluted"],
        Meta(description="Whether the session may be remembered; polluted: it took in outside content."),
    ]
    session_id: Annotated[str, Meta(description="Another session of this host, or HOST:ID; without: this one.")] = ""


T = TypeVar("T", bound=Struct)


def arguments(given: Mapping[str, object], kind: type[T]) -> T:
    """Typed arguments. Numbers and truth values may come as text. Raises ToolError."""
    try:
        return msgspec.convert(_flat(given), kind, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(str(error).replace(" - at `$.", " - argument `")) from error


def schema(kind: type[Struct]) -> dict[str, Any]:
    """JSON schema of the arguments, without references."""
    whole = msgspec.json.schema(kind)
    plain: dict[str, Any] = whole["$defs"][kind.__name__]
    return {key: value for key, value in plain.items() if key not in ("title", "description")} | {
        "additionalProperties": False
    }


def _flat(given: Mapping[str, object]) -> dict[str, object]:
    """Codex nests the mode, and models forget the list around a single query: both are understood."""
    flat = {key: value for key, value in given.items() if value is not None}
    mode = flat.get("match_mode")
    if isinstance(mode, dict):
        flat["match_mode"] = mode.get("type")
        if mode.get("line_count") is not None:
            flat.setdefault("line_count", mode["line_count"])
    if isinstance(flat.get("queries"), str):
        flat["queries"] = [flat["queries"]]
    return flat


def offset_of(cursor: str, count: int) -> int:
    """Where a page begins. Raises ToolError for anything but digits, and beyond the end."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > 18:  # noqa: PLR2004 - no list is longer
        raise ToolError(f"cursor {cursor!r} is no number from an earlier answer")
    offset = int(cursor)
    if offset > count:
        raise ToolError(f"cursor {offset} is beyond the end: there are {count}")
    return offset
