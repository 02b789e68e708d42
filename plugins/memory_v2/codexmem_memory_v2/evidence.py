"""A conversation as evidence in tiers: within a budget the user's own words come first, whatever tools printed.

The rules are Codex 0.171's and OpenCode memory's (rollout input). Each item becomes a row under a label that says whose
words it holds. Rows are chosen tier by tier, in each the newest first, and stand in the order in which they were said;
where some are left out, a line says so.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.cuts import cut_bytes
from codexmem_hookspecs.memory_files.conversation import excluded, said
from codexmem_hookspecs.memory_files.lines import one_line, size, utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codexmem_hookspecs.values.capture import Item, Tier

LIMIT_BYTES: Final = 600_000
ROW_BYTES: Final = 10_000
TOOL_ROW_BYTES: Final = 8_000
RESERVE_BYTES: Final = 96
"""Kept free in each row for its label; a rest of the budget that is smaller is not worth a row."""
OMITTED: Final = "[... items left out ...]\n"
CUT: Final = "\n[... cut ...]\n"

LABELS: Final[Mapping[Tier, str]] = {
    "human": "[human user]",
    "final": "[assistant final]",
    "other_agent": "[other agent]",
    "commentary": "[assistant commentary]",
    "context": "[harness context]",
    "tool": "[tool]",
}
"""By tier, what is chosen first comes first."""

_LABELLED = "|".join(re.escape(label[1:]) for label in LABELS.values())
_LABEL_INSIDE = re.compile(
    rf"((?:^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])[^\S\n\r]*[*_>#\u200b-\u200d\u2060\ufeff\s]*)\[(?=\s*(?:{_LABELLED}))",
    re.IGNORECASE,
)
"""The bracket of a line in somebody's words that looks like a label of ours, and what stands before it."""


def evidence(items: Iterable[Item], limit: int, cwd: str = "") -> str:
    """The conversation in at most ``limit`` bytes of UTF-8, and never more than 600,000. One pass, little held.

    ``cwd``: where the session works; an item from somewhere else says so.
    """
    limit = min(limit, LIMIT_BYTES)
    tiers = {tier: _Newest(limit) for tier in LABELS}
    count = 0
    for item in items:
        body = _body(item, cwd)
        if body:
            tiers[item.tier].add(_Row(count, LABELS[item.tier], body))
            count += 1
    chosen = sorted(_chosen(tiers.values(), limit - len(OMITTED)), key=lambda row: row.number)
    text = "".join(_in_order(chosen, count))
    return text if size(text) <= limit else ""


class _Row:
    """One item's label and words. ``number`` counts the rows of the conversation."""

    __slots__ = ("body", "bytes", "label", "number")

    def __init__(self, number: int, label: str, body: str) -> None:
        self.number = number
        self.label = label
        self.body = body
        self.bytes = size(body) + len(label) + 2

    @property
    def text(self) -> str:
        return f"{self.label}\n{self.body}\n"

    def cut_to(self, limit: int) -> _Row:
        return _Row(self.number, self.label, _cut(self.body, limit - (self.bytes - size(self.body))))


class _Newest:
    """The newest rows of a tier: as many as could be chosen if no other tier wanted anything."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: deque[_Row] = deque()
        self._cost = 0

    def add(self, row: _Row) -> None:
        self._rows.append(row)
        self._cost += _cost(row)
        while len(self._rows) > 1 and self._cost - _cost(self._rows[0]) >= self._limit:
            self._cost -= _cost(self._rows.popleft())

    def __iter__(self) -> Iterator[_Row]:
        return reversed(self._rows)


def _cost(row: _Row) -> int:
    """With the line that may have to stand before it."""
    return row.bytes + len(OMITTED)


def _chosen(tiers: Iterable[_Newest], remaining: int) -> Iterator[_Row]:
    """Every row is paid with a line about omitted ones, so that the whole fits however they lie."""
    for row in (row for tier in tiers for row in tier):
        if remaining <= len(OMITTED) + RESERVE_BYTES:
            return
        room = remaining - len(OMITTED)
        fitted = row if row.bytes <= room else row.cut_to(room - RESERVE_BYTES)
        if not fitted.body:
            return
        yield fitted
        remaining -= _cost(fitted)


def _in_order(chosen: Iterable[_Row], count: int) -> Iterator[str]:
    expected = 0
    for row in chosen:
        if row.number > expected:
            yield OMITTED
        yield row.text
        expected = row.number + 1
    if expected < count:
        yield OMITTED


def _body(item: Item, cwd: str) -> str:
    """An item's words within the cap of a row; empty when it has none that count as evidence."""
    if item.role == "system":
        return ""
    if item.tool is None and item.role == "user":
        item = item._replace(parts=tuple(part for part in item.parts if not excluded(part.text)))
    text = said(item)
    if not text:
        return ""
    if item.cwd and item.cwd != cwd:
        text = f"(in {one_line(item.cwd)})\n{text}"
    return _cut(text, (TOOL_ROW_BYTES if item.tier == "tool" else ROW_BYTES) - RESERVE_BYTES)


def _cut(text: str, limit: int) -> str:
    """Without its middle where it is too long, and without a line that could be taken for a label."""
    return _LABEL_INSIDE.sub(r"\1(", cut_bytes(utf8(text).decode(), limit, CUT)) if limit > 0 else ""
