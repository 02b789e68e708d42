"""One sentence of the user's: a stated default, a decision, or neither."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from codexmem_core.models.findings import cues, signs
from codexmem_core.models.findings.sentences import QUOTE_CHARS, masked, shortened
from codexmem_core.models.findings.topics import topic

if TYPE_CHECKING:
    from codexmem_hookspecs.values.extract import Polarity, Scope

SENTENCE_CHARS = 600
"""Longer ones are pasted text, not statements."""
INTRODUCTION_WORDS = 4
"""A first clause of so few words ("from now on,") only introduces the statement."""

_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORK = re.compile(
    r"^(?:please |can you |could you |now |then |also |ok,? |first,? )*(?:fix|add|write|implement|make|"
    r"create|update|change|"
    r"refactor|remove|delete|rename|move|run|build|test|check|review|debug|deploy|install|set up|look|find|explain)\b"
)


class Statement(NamedTuple):
    """What a sentence says about how the user wants things."""

    quote: str
    polarity: Polarity
    topic: str
    scope: Scope
    request: str
    """A request that stood in front of it in the same sentence, or empty."""


def preference(sentence: str) -> Statement | None:
    """The default that the sentence states.

    The cue must stand in the user's own words (not in quotation marks, not reported from somebody), it must tell what
    to do rather than what happened, and a weak cue ("use X not Y", "don't …") is defeated by any sign that it is
    about the work at hand: "now", "this file", one certain object, a place in the code.
    """
    if len(sentence) > SENTENCE_CHARS:
        return None
    lowered = masked(sentence)
    if signs.QUESTION.search(lowered) and not signs.ASKED_DEFAULT.search(lowered):
        return None
    weak_is_enough = not any(sign.search(lowered) for sign in (signs.ONE_OFF, signs.DEFINITE, signs.AT_PLACE))
    found: list[tuple[int, cues.Cue]] = []
    for cue in _cues_for(lowered):
        match = cue.pattern.search(lowered) if cue.durable or weak_is_enough else None
        if match is not None and not signs.REPORTED.search(lowered, 0, match.start("cue")):
            found.append((match.start("cue"), cue))
    if not found:
        return None
    start, first = min(found, key=lambda place: place[0])
    before = sentence[:start].rstrip(" ,;:-—").removesuffix(" and").removesuffix(" but").rstrip(" ,;")
    request = before if _WORK.match(before.lower()) else ""
    said = sentence[start:] if request or len(sentence) > QUOTE_CHARS else sentence
    polarity = first.polarity or _polarity(lowered[start:])
    return Statement(shortened(said), polarity, topic(said, polarity), _scope(lowered), request)


def decision(sentence: str) -> str:
    """A choice that the user made, as a near-quote; empty when the sentence makes none."""
    lowered = masked(sentence)
    if len(sentence) > SENTENCE_CHARS or signs.QUESTION.search(lowered) or signs.UNDECIDED.search(lowered):
        return ""
    match = signs.DECIDED.search(lowered)
    if match is None or signs.REPORTED.search(lowered, 0, match.start()):
        return ""
    return shortened(sentence)


def lasting(sentence: str) -> bool:
    """Whether the words alone say that the statement is meant to last: then it is no mere decision."""
    lowered = masked(sentence)
    return any(cue.durable and cue.pattern.search(lowered) for cue in _cues_for(lowered))


def changed_mind(sentence: str) -> bool:
    """Whether the sentence takes back what was said before it."""
    return bool(signs.CHANGED_MIND.search(masked(sentence)))


def _cues_for(lowered: str) -> tuple[cues.Cue, ...]:
    if _KANA.search(lowered):
        return (*cues.JAPANESE, *cues.ENGLISH)
    if _HAN.search(lowered):
        return (*cues.CHINESE, *cues.ENGLISH)
    return cues.ENGLISH


def _polarity(said: str) -> Polarity:
    if "forget" in said or "忘" in said:
        return "do"
    return "avoid" if signs.NEGATION.search(_chosen_side(said)) else "do"


def _chosen_side(said: str) -> str:
    """Without the turned-down side of "X, not Y", and without what only names a condition after the first clause."""
    kept = re.sub(r",? (?:and )?(?:not|instead of|rather than|over) [\w-]+.*$", "", said)
    kept = re.sub(r"(?:而不是|不要用|别用|不用|代替).*$|^.*(?:ではなく|じゃなくて|の代わりに)", "", kept)
    # "always run X, don't skip it" is a thing to do: the first verb decides.
    first = re.split(r"[,;，；]\s*", kept, maxsplit=2)
    return first[0] if len(first[0].split()) > INTRODUCTION_WORDS or len(first) == 1 else ", ".join(first[:2])


def _scope(lowered: str) -> Scope:
    if signs.EVERYWHERE.search(lowered):
        return "everywhere"
    return "project" if signs.IN_PROJECT.search(lowered) else "unstated"
