"""JSON out of a model's text, and whether it fits a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCE = re.compile(r"```[A-Za-z0-9_-]*")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
}


def object_in(text: str) -> dict[str, Any]:
    """The JSON object in a text: code fences stripped, from the first ``{`` to the last ``}``.

    (opencode-codex-memory 12.) Raises ValueError.
    """
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        raise ValueError("the answer holds no JSON object")
    inner = text[first : last + 1]
    try:
        value = json.loads(inner, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = _read(_FENCE.sub("", inner))
    if not isinstance(value, dict):
        raise ValueError("the answer is no JSON object")  # noqa: TRY004 - whatever is wrong with an answer is one error
    return value


def problems(value: object, schema: Mapping[str, Any], place: str = "the answer") -> list[str]:
    """Why a value does not fit; empty when it does.

    Knows type, enum, required, properties, additionalProperties and items. Null counts as a value of any type: what an
    empty field means is for who asked to say.
    """
    kind = schema.get("type")
    if value is None:
        return []
    if isinstance(kind, str) and kind in _TYPES and not _is(value, kind):
        return [f"{place} is no {kind}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place} is none of {', '.join(map(str, schema['enum']))}"]
    found: list[str] = []
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place} lacks {name}" for name in schema.get("required", ()) if name not in value]
        if schema.get("additionalProperties") is False:
            found += [f"{place} has {name}, which was not asked for" for name in value if name not in known]
        for name, part in value.items():
            if name in known:
                found += problems(part, known[name], f"{place}'s {name}")
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for number, part in enumerate(value):
            found += problems(part, schema["items"], f"{place}'s item {number}")
    return found


def schema_in_words(schema: Mapping[str, Any]) -> str:
    """What to tell a model whose provider cannot enforce a schema."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with exactly one JSON object and nothing else. It must fit this JSON schema:\n{text}"


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _read(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the answer's JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the answer is no valid JSON: {error}") from None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
