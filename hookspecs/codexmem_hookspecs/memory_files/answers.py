"""A model's answer, checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def texts(data: Mapping[str, object] | None, fields: Sequence[str], placeholders: Collection[str]) -> dict[str, str]:
    """The strings of an answer by field.

    Raises ValueError when there is no answer, when it lacks a field or has one that was not asked for (Codex rejects
    these too), when a value is no string, or when it echoes a placeholder of the template instead of filling it in.
    """
    if data is None:
        raise ValueError("the reply has neither data nor findings")
    unknown = sorted(set(data) - set(fields))
    if unknown:
        raise ValueError(f"fields that were not asked for: {', '.join(unknown)}")
    found: dict[str, str] = {}
    for field in fields:
        value = data.get(field)
        if not isinstance(value, str):
            raise ValueError(f"{field} is missing or no string")  # noqa: TRY004 - the contract names ValueError
        if any(placeholder in value for placeholder in placeholders):
            raise ValueError("the answer echoes the template instead of filling it in")
        found[field] = value
    return found
