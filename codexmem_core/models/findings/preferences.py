"""One sentence of the user's: a stated default, a decision, or neither."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from codexmem_core.models.findings import cues, cues_cjk, cues_habits, cues_rules, signs
from codexmem_core.models.findings.sentences import CLAUSE, QUOTE_CHARS, masked, shortened
from codexmem_core.models.findings.topics import topic

if TYPE_CHECKING:
    from codexmem_hookspecs.values.extract import Polarity, Scope

SENTENCE_CHARS = 600
"""Longer ones are pasted text, not statements."""
INTRODUCTION_WORDS = 4
"""A first clause of so few words ("from now on,") only introduces the statement."""

_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTERS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
LETTERS_A_WORD = 2
"""Of Chinese and Japanese; a rough measure."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORK = re.compile(
    r"^(?:please |can you |could you |now |then |also |ok,? |first,? )*(?:fix|add|write|implement|make|"
    r"create|update|change|"
    r"refactor|remove|delete|rename|move|run|build|test|check|review|debug|deploy|install|set up|look|find|explain)\b"
)


_ENGLISH = (*cues.ENGLISH, *cues_habits.HABITS, *cues_rules.RULES)


class Statement(NamedTuple):
    """What a sentence says about how the user wants things."""

    quote: str
    polarity: Polarity
    topic: str
    scope: Scope
    request: str
    """A request that stood in front of it in the same sentence, or empty."""


def preference(sentence: str, heading: str = "", *, listed: bool = False) -> Statement | None:
    """The default that the sentence states.

    Below a heading that introduces rules every item of the list is one, and so is what follows such a clause in its
    paragraph unless it asks for work.

    The cue must stand in the user's own words (not in quotation marks, not reported from somebody), it must tell what
    to do rather than what happened, and a weak cue ("use X not Y", "don't …") is defeated by any sign that it is
    about the work at hand: "now", "this file", one certain object, a place in the code.
    """
    if len(sentence) > SENTENCE_CHARS:
        return None
    lowered = masked(sentence)
    if signs.QUESTION.search(lowered) and not signs.ASKED_DEFAULT.search(lowered):
        return None
    lasts = not signs.ONE_OFF.search(lowered)
    found: list[tuple[int, cues.Cue]] = []
    for cue in _cues_for(lowered):
        match = cue.pattern.search(lowered) if cue.durable or lasts else None
        if (
            match is None
            or (not cue.durable and _at_hand(lowered, match))
            or (cue.general and signs.PROBLEM.search(lowered, match.start("cue")))
        ):
            continue
        if not signs.REPORTED.search(lowered, 0, match.start("cue")):
            found.append((match.start("cue"), cue))
    if not found:
        own = CLAUSE.match(sentence)
        # "Since you ask: our tests never sleep." states what its second part states.
        said_then = preference(sentence[own.end() :].lstrip()) if own else None
        if said_then is not None:
            return said_then._replace(quote=shortened(sentence))
        return _introduced(sentence, lowered, heading, listed=listed)
    start, first = min(found, key=lambda place: place[0])
    before = sentence[:start].rstrip(" ,;:-—").removesuffix(" and").removesuffix(" but").rstrip(" ,;")
    request = before if _WORK.match(before.lower()) else ""
    said = sentence[start:] if request or len(sentence) > QUOTE_CHARS else sentence
    polarity = first.polarity or _polarity(lowered[start:])
    return Statement(shortened(said), polarity, topic(said, polarity), _scope(lowered, masked(heading)), request)


def _at_hand(lowered: str, match: re.Match[str]) -> bool:
    """Whether the clause of a weak cue speaks of today, of one certain thing or of a place in the code."""
    start = max(lowered.rfind(mark, 0, match.start("cue")) for mark in ",;:，；：") + 1
    end = min((at for mark in ",;!，；！" if (at := lowered.find(mark, match.end())) >= 0), default=len(lowered))
    clause = lowered[start:end].strip()
    return any(sign.search(clause) for sign in (signs.OF_NOW, signs.DEFINITE, signs.AT_PLACE))


def _introduced(sentence: str, lowered: str, heading: str, *, listed: bool) -> Statement | None:
    """The sentence as a rule, when it stands below a heading that introduces rules."""
    own = CLAUSE.match(sentence)
    if not introduces_rules(heading or (own.group() if own else "")):
        return None
    if signs.ONE_OFF.search(lowered) or (not listed and _WORK.match(lowered)):
        return None
    polarity = _polarity(lowered)
    scope = _scope(lowered, masked(heading))
    return Statement(shortened(sentence), polarity, topic(sentence, polarity), scope, "")


def introduces_rules(sentence: str) -> bool:
    """Whether what is listed below the sentence, or follows it, are rules and no tasks."""
    lowered = masked(sentence)
    named = signs.RULES.search(lowered)
    scoped = lowered.endswith((":", "：")) and (signs.ALL_PROJECTS.search(lowered) or signs.IN_PROJECT.search(lowered))
    return bool(named or scoped) and not _WORK.match(lowered)


def taken_back(sentence: str) -> bool:
    """Whether the sentence says that an earlier wish does not hold any more."""
    return bool(signs.TAKEN_BACK.search(masked(sentence)))


def waived(sentence: str) -> bool:
    """Whether the sentence only says what need not be done."""
    return bool(signs.WAIVED.search(masked(sentence)))


def withdrawn(sentence: str) -> bool:
    """Whether the sentence takes itself back before it ends."""
    return bool(signs.WITHDRAWN.search(masked(sentence)))


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
    return any(cue.durable and not cue.general and cue.pattern.search(lowered) for cue in _cues_for(lowered))


def changed_mind(sentence: str) -> bool:
    """Whether the sentence takes back what was said before it."""
    return bool(signs.CHANGED_MIND.search(masked(sentence)))


def _cues_for(lowered: str) -> tuple[cues.Cue, ...]:
    if _KANA.search(lowered):
        return (*cues_cjk.JAPANESE, *_ENGLISH)
    if _HAN.search(lowered):
        return (*cues_cjk.CHINESE, *_ENGLISH)
    return _ENGLISH


def _polarity(said: str) -> Polarity:
    if "forget" in said or "忘" in said:
        return "do"
    return "avoid" if signs.NEGATION.search(_chosen_side(said)) else "do"


def _chosen_side(said: str) -> str:
    """Without the turned-down side of "X, not Y", and without what only names a condition after the first clause."""
    kept = re.sub(r",? (?:and )?(?:not|instead of|rather than|over) [\w-]+.*$", "", said)
    kept = re.sub(r"(?:而不是|不要用|别用|不用|代替).*$|^.*(?:ではなく|じゃなくて|の代わりに)", "", kept)
    # "always run X, don't skip it" is a thing to do: the first verb decides.
    first = re.split(r"[,;，；、]\s*", kept, maxsplit=2)
    length = len(first[0].split()) + len(_LETTERS.findall(first[0])) // LETTERS_A_WORD
    return first[0] if length > INTRODUCTION_WORDS or len(first) == 1 else ", ".join(first[:2])


def _scope(lowered: str, heading: str = "") -> Scope:
    for text in (lowered, heading):
        if signs.ALL_PROJECTS.search(text):
            return "everywhere"
        if signs.IN_PROJECT.search(text):
            return "project"
        if signs.EVERYWHERE.search(text):
            return "everywhere"
    return "unstated"
