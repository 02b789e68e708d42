"""Texts as JavaScript counts them: in UTF-16 code units, of which a character beyond U+FFFF has two.

The server's other clients are written in JavaScript; names and limits must come out the same as theirs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What ``String.prototype.trim`` takes off; Python's ``strip`` leaves U+FEFF and takes U+001C to U+001F."""


def length(text: str) -> int:
    """Code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def head(text: str, units: int) -> str:
    """The first code units; a character that would be halved is left out."""
    if length(text) <= units:
        return text
    taken = 0
    for index, character in enumerate(text):
        taken += 2 if character > "\uffff" else 1
        if taken > units:
            return text[:index]
    return text


def shortened(text: str, units: int) -> str:
    """At most so many code units; what is cut ends in an ellipsis."""
    return text if length(text) <= units else head(text, max(0, units - 1)).rstrip() + "…"


def whole(text: str) -> str:
    """With every half of a character, which no request can carry, replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def trimmed(text: str) -> str:
    """Without blanks at both ends."""
    return text.strip(_BLANKS)


def replaced(text: str, kept: Callable[[str], object], by: str) -> str:
    """Every code unit of a character that is not ``kept`` replaced; so two for one beyond U+FFFF."""
    return "".join(character if kept(character) else by * (2 if character > "\uffff" else 1) for character in text)


def tokens(text: str) -> int:
    """The estimate of OpenViking's clients: 1.5 a unit from U+3000 on, a quarter for any other, rounded up."""
    wide = sum(2 if character > "\uffff" else 1 for character in text if character >= "\u3000")
    other = length(text) - wide
    return -(-(6 * wide + other) // 4)


ONE_LINE = re.compile(f"[{re.escape(_BLANKS)}]+")
"""A run of blanks."""
