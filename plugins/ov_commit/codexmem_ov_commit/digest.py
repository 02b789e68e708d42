"""What is injected in front of a prompt: a few bullets, each with the address where more stands.

The same input gives the same text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from codexmem_ov_commit import utf16

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_ov_commit.ranking import Found

HEADER: Final = "OpenViking memory digest:"
MORE: Final = "More detail: use the OpenViking MCP tools openviking_read and openviking_search."
NOTHING_RELEVANT: Final = "NO_RELEVANT_MEMORY"
BULLET_UNITS: Final = 260
"""Longest text of a bullet, UTF-16 units, without its address."""
COMPRESSED_UNITS: Final = 4_000
"""Longest digest of a compressor."""
_URI = re.compile(r"\bviking://[^\s\"'`<>)\]]*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(.*\S)")
_ENDS = ".,;:!?"
_SNAP_LEAST, _SNAP_SHARE = 4, 0.25
"""An address that is this close to one that was served is that one, misspelled."""


def plain_digest(found: Sequence[Found], bullets: int) -> str:
    """Without a model; empty when nothing was found."""
    lines: list[str] = []
    for one in found:
        text = utf16.trimmed(utf16.ONE_LINE.sub(" ", one.text))
        if text and len(lines) < bullets:
            bullet = f"- [{one.category}] {utf16.shortened(text, BULLET_UNITS)} ({one.uri})"
            lines.append(utf16.ONE_LINE.sub(" ", bullet))
    if any(one.uri.startswith("viking://") for one in found[: len(lines)]):
        lines.append(MORE)
    return _joined(lines)


def compressed_digest(said: str, served: Sequence[str], bullets: int) -> str | None:
    """A compressor's answer as a digest; empty when it found nothing relevant, None when it is no answer.

    A bullet whose address was not served is no memory: it is dropped, or its address is set right where it is only
    misspelled.
    """
    text = utf16.trimmed(said)
    if text == NOTHING_RELEVANT:
        return ""
    given = [match[1] for line in text.split("\n") if (match := _BULLET.match(line))]
    if not given:
        return None
    lines = [f"- {bullet}" for one in given if (bullet := _with_known_address(one, served))]
    digest = ""
    for count in range(1, min(bullets, len(lines)) + 1):
        longer = _joined(lines[:count])
        if utf16.length(longer) > COMPRESSED_UNITS:
            break
        digest = longer
    return digest


def addresses(text: str) -> Iterator[str]:
    """The ``viking://`` addresses in a text."""
    for match in _URI.finditer(text):
        yield match[0].rstrip(_ENDS)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join([HEADER, *lines]) if lines else ""


def _with_known_address(bullet: str, served: Sequence[str]) -> str:
    """The bullet with addresses that were served; empty when it has none of them."""
    named = list(dict.fromkeys(addresses(bullet)))
    for uri in named:
        if uri not in served:
            near = _nearest(uri, served)
            if not near:
                return ""
            bullet = bullet.replace(uri, near)
    return bullet if named else ""


def _nearest(uri: str, served: Sequence[str]) -> str:
    allowed = max(_SNAP_LEAST, int(_SNAP_SHARE * utf16.length(uri)))
    near = min(served, key=lambda known: distance(uri, known, allowed), default="")
    return near if near and distance(uri, near, allowed) <= allowed else ""


def distance(one: str, other: str, most: int) -> int:
    """Characters to change, add or take away; anything greater than ``most`` when it is more than that."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for number, left in enumerate(one, 1):
        last, row = row, [number]
        for at, right in enumerate(other, 1):
            row.append(min(last[at] + 1, row[at - 1] + 1, last[at - 1] + (left != right)))
        if min(row) > most:
            return most + 1
    return row[-1]
