"""Text and lists within a number of tokens, counted as OpenViking's clients count (:func:`utf16.tokens`).

What is over is left out line by line, and the place says so. Nothing returned here is ever over its budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_ov_commit import utf16

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HEAD_LINES: Final = 8
"""Of a text that is too long; the rest of the room is for its end, where the newest stands."""
ELIDED: Final = "... [profile middle elided] ..."
CUT: Final = "\n... [profile truncated]"


def shortened(text: str, tokens: int) -> str:
    """A text within its budget: its first lines and as much of its end as fits, else its beginning."""
    if utf16.tokens(text) <= tokens:
        return text
    lines = text.split("\n")
    head, rest = [*lines[:HEAD_LINES], ELIDED], lines[HEAD_LINES:]

    def with_tail(count: int) -> str:
        return "\n".join([*head, *rest[len(rest) - count :]])

    if count := _most(lambda count: utf16.tokens(with_tail(count)) <= tokens, len(rest)):
        return with_tail(count)
    length = _most(lambda length: utf16.tokens(text[:length] + CUT) <= tokens, len(text))
    return text[:length].rstrip() + CUT if length else ""


def listed(header: str, lines: Sequence[str], more: str, tokens: int) -> str:
    """A header and as many lines as fit; ``more`` (with ``{}`` for the number) says how many do not."""

    def shown(count: int) -> str:
        left = len(lines) - count
        return "\n".join([header, *lines[:count], *([more.format(left)] if left else [])])

    if not lines or utf16.tokens(shown(len(lines))) <= tokens:
        return shown(len(lines)) if lines else ""
    count = _most(lambda count: utf16.tokens(shown(count)) <= tokens, len(lines) - 1)
    return shown(count) if count else ""


def _most(fits: Callable[[int], bool], most: int) -> int:
    """The greatest number up to ``most`` that fits, when everything smaller than one that fits does; 0 when none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
