"""A person's message as sentences: without pasted code, logs and markup, and cut to near-quotes."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_CHARS = 20_000
TAIL_CHARS = 10_000
"""Of a longer message only the beginning and the end are read: what lies between is pasted text."""

SENTENCE_CHARS = 1_000
"""What stands further back in a sentence is not read, so that no pattern meets a text without end."""

QUOTE_CHARS = 200
"""Longest near-quote."""

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_TAGGED = re.compile(r"<([a-z][a-z0-9]*[_-][a-z0-9_-]+)\b[^>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL)
_PASTED_LINE = re.compile(
    r"""^\s*(?:
        [>|+$%] | -{2,} | @@ | \#\s*\w+.*\bdiff\b |          # quotes, tables, prompts, diffs
        \[?\d{4}-\d\d-\d\d[T\s]\d\d | \d\d:\d\d:\d\d |         # log lines
        (?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b[\s:\]] |
        Traceback | File\s" | at\s\S+\( | npm\sERR! | error\[E
    )""",
    re.VERBOSE,
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_END = re.compile(
    r"(?<=[。！？；])\s*"
    r"|(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)[\"')\]]*\s+"
)
CLAUSE = re.compile(r"[^:：]{3,60}[:：](?=\s|[^\x00-\x7f])")
_SPACES = re.compile(r"\s+")
_NAMES_SOMETHING = re.compile(r"\w")
_QUOTED = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|「[^」\n]{1,200}」|`[^`\n]{1,200}`')


def visible(text: str) -> str:
    """What the person wrote: code blocks and tagged blocks of the harness left out, length bounded."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]
    text = text.encode("utf-8", "replace").decode()
    return _TAGGED.sub("\n", _FENCED.sub("\n", text.replace("\r", "\n")))


class Sentence(NamedTuple):
    """A sentence, and what introduces it."""

    text: str
    heading: str = ""
    """The line with a colon above the list that it is an item of, or the clause with a colon in front of it in its
    paragraph ("for next time: …"); lower case does not matter, empty when there is none."""
    listed: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """Sentences of a message as :func:`visible` gives it, in order; pasted lines are left out."""
    above = ""
    for line in text.split("\n"):
        if not line.strip() or _PASTED_LINE.match(line):
            continue
        listed = bool(_LIST_MARK.match(line))
        if not listed:
            above = ""
        heading = above
        for part in _END.split(_LIST_MARK.sub("", line)):
            sentence = _SPACES.sub(" ", part).strip()[:SENTENCE_CHARS]
            if not _NAMES_SOMETHING.search(sentence):
                continue
            yield Sentence(sentence, heading, listed and bool(above))
            clause = CLAUSE.match(sentence)
            if clause is not None and not listed:
                heading = clause.group()
            if not listed:
                above = sentence if sentence.endswith((":", "：")) else ""


def masked(sentence: str) -> str:
    """Lower case, straight apostrophes, and quoted spans made unreadable, at the same length.

    A rule inside quotation marks is somebody else's sentence; only what stands outside of them may be a cue.
    """
    hidden = _QUOTED.sub(lambda match: "Q" * len(match.group()), sentence).replace("’", "'")
    # A few letters get longer in lower case (İ): they stay, so that places in both texts are the same.
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in hidden)


def shortened(text: str, limit: int = QUOTE_CHARS) -> str:
    """One line of at most ``limit`` characters, cut at a word."""
    text = _SPACES.sub(" ", text).strip()
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip() + "…"
