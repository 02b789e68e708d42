"""Which of what a search found is worth telling, and in which order, where the server does not say.

OpenViking's coding agents: the score, and on top of it a little for whole files, for what a question about time or
taste is likely to mean, and for words that it shares with the question.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAF, EVENT, PREFERENCE, WORDS = 0.12, 0.10, 0.08, 0.20
"""Most that each adds."""
_MOST_WORDS: Final = 8
_ENOUGH_WORDS: Final = 4
_LEAF_LEVEL: Final = 2
_WORD = re.compile("[a-z0-9一-龥]{2,}")
_COMMON = frozenset((
    "the", "and", "for", "are", "was", "were", "with", "that", "this", "what", "when", "where", "how", "why", "who",
    "can", "could", "should", "from", "does", "did", "you",
))  # fmt: skip
_TIME = re.compile(
    r"\b(?:when|yesterday|today|tomorrow|last|recent(?:ly)?|ago|since|week|month|date|day|year|earlier|latest)\b"
    "|什么时候|何时|昨天|今天|明天|最近|上次|之前|几号|日期",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"\b(?:prefer\w*|favou?rite|likes?|style|usual(?:ly)?|habits?|convention|rather)\b|喜欢|偏好|习惯|风格|爱用",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that the server keeps."""

    uri: str
    category: str
    score: float = 0.0
    text: str = ""
    level: int = _LEAF_LEVEL
    """2 is a file, below that are overviews of folders."""

    @property
    def leaf(self) -> bool:
        """Whether it is a file."""
        return self.level == _LEAF_LEVEL or self.uri.endswith(".md")

    @property
    def key(self) -> str:
        """Two with the same say the same."""
        about = " ".join(self.text.lower().split())
        return f"{self.category}:{about}" if about else self.uri


def ranked(query: str, found: Iterable[Found], *, threshold: float, limit: int) -> Sequence[Found]:
    """The best files, files first, each once."""
    first: dict[str, Found] = {}
    for one in found:
        if one.level == _LEAF_LEVEL and one.score >= threshold:
            first.setdefault(one.key, one)
    words = list(dict.fromkeys(word for word in _WORD.findall(query.lower()) if word not in _COMMON))[:_MOST_WORDS]
    asks_time, asks_taste = bool(_TIME.search(query)), bool(_TASTE.search(query))

    def worth(one: Found) -> float:
        worth = min(1.0, max(0.0, one.score)) + (LEAF if one.leaf else 0.0)
        worth += EVENT if asks_time and one.category == "events" else 0.0
        worth += PREFERENCE if asks_taste and one.category == "preferences" else 0.0
        if words:
            said = f"{one.text} {one.uri}".lower()
            matched = sum(word in said for word in words)
            worth += min(WORDS, WORDS * matched / min(len(words), _ENOUGH_WORDS))
        return worth

    # Sorting keeps the server's order where two are worth the same.
    return sorted(first.values(), key=lambda one: (not one.leaf, -worth(one)))[:limit]


def category_of(uri: str) -> str:
    """``preferences`` of ``viking://user/me/memories/preferences/x.md``; what is no memory is named by its root."""
    parts = [part for part in uri.partition("://")[2].split("/") if part]
    if "memories" in parts[:-1]:
        return parts[parts.index("memories") + 1] if parts.index("memories") + 2 < len(parts) else "memories"
    return "skills" if "skills" in parts else parts[0] if parts else "memories"


def found_in(result: object, kind: str) -> list[Found]:
    """What a search's answer holds of a kind (``memories``, ``skills``); what cannot be understood is left out."""
    listed = result.get(kind) if isinstance(result, dict) else None
    return [
        Found(uri=uri, category=category_of(uri), score=_score(one), text=_text(one), level=_level(one))
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(uri := one.get("uri"), str) and uri
    ]


def entries_in(result: object) -> list[Found]:
    """What a context that the server assembled consists of, each once: files in its order, then folders' overviews."""
    listed = result.get("entries") if isinstance(result, dict) else None
    entries: dict[str, Found] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(uri := one.get("uri"), str):
            category = one.get("category")
            category = category if isinstance(category, str) and category else category_of(uri)
            level = _LEAF_LEVEL if uri.endswith(".md") else _LEAF_LEVEL - 1
            entry = Found(uri=uri, category=category, score=_score(one), text=_text(one), level=level)
            entries.setdefault(entry.key, entry)
    return sorted(entries.values(), key=lambda entry: not entry.leaf)


def _score(one: dict[str, object]) -> float:
    score = one.get("score")
    return float(score) if isinstance(score, (int, float)) and math.isfinite(score) else 0.0


def _text(one: dict[str, object]) -> str:
    return next(
        (text for key in ("text", "abstract", "overview") if isinstance(text := one.get(key), str) and text), ""
    )


def _level(one: dict[str, object]) -> int:
    level = one.get("level")
    return level if isinstance(level, int) and not isinstance(level, bool) else _LEAF_LEVEL
