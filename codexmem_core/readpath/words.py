"""Text as the full-text index is given it, and a question taken apart in the same way.

FTS5 knows words between spaces. Chinese, Japanese and Korean text has none (or glues particles on), so runs of it are
indexed as overlapping pairs of characters; names in camel case are indexed in parts as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_STOP_WORDS = """a an and are at be been did do does for had has have he her his how in is it its of on or s she that
the their they this to was were what when where which who why with"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Dropped from questions: a prototype found more LoCoMo sessions without them."""

_DENSE = re.compile(
    "[\u3005\u3006\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f]+"
)
_WORD = re.compile(r"[^\W_]+")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, in the index's terms."""

    literal: str
    """The whole question in lower case, as it would stand in a text."""
    tokens: tuple[str, ...]
    """For the index: single words, and words that belong together as one token."""
    words: tuple[str, ...]
    """The single words, without stop words unless there are no others; lower case."""
    pieces: tuple[str, ...]
    """What stands between spaces, lower case: for texts in which the index knows no word."""


def searchable(text: str) -> str:
    """The text with pairs for dense scripts, and the parts of camel-case names at its end."""
    if not text.isascii():
        text = _DENSE.sub(lambda run: f" {_pairs(run[0])} ", text)
    if _HUMP.search(text) is None:
        return text
    parts = [_HUMP.sub(" ", word) for word in _LATIN_WORD.findall(text) if _HUMP.search(word)]
    return f"{text}\n{' '.join(parts)}"


def question(text: str) -> Question:
    """Take a question apart. Any text is one; nothing in it is query syntax."""
    tokens: dict[str, None] = {}
    words: dict[str, None] = {}
    for piece in text.split():
        found = _WORD.findall(_DENSE.sub(" ", piece))
        parts = [part for word in found if _HUMP.search(word) for part in _HUMP.sub(" ", word).split()]
        words.update(dict.fromkeys(word.lower() for word in (*found, *parts)))
        if len(found) > 1:
            tokens[" ".join(found).lower()] = None
        for run in _DENSE.findall(piece):
            pairs = _pairs(run).split()[:-1]
            words.update(dict.fromkeys(pairs or [run]))
            if len(pairs) > 1:
                tokens[" ".join(pairs)] = None
    told = [word for word in words if word not in STOP_WORDS] or list(words)
    tokens.update(dict.fromkeys(f"{word}*" if is_dense(word) and len(word) == 1 else word for word in told))
    return Question(
        literal=text.strip().lower(),
        tokens=tuple(tokens),
        words=tuple(told),
        pieces=tuple(dict.fromkeys(text.lower().split())),
    )


def is_dense(word: str) -> bool:
    """Whether the word is of a script without spaces: then it may stand anywhere."""
    return _DENSE.match(word) is not None


def _pairs(run: str) -> str:
    """Overlapping pairs, and the last character alone, so that the beginning of some token is each character."""
    return " ".join([*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]])
