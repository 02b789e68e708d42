"""What must not come back: sessions by their key, texts by keyed hashes of their words, never the text itself.

A text is split into words; letter case, punctuation and spacing make no difference. Up to eight words are one window;
of a longer text every run of eight words is one, so that a part of it, quoted elsewhere, is known too.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import threading
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from codexmem_core.safety.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codexmem_hookspecs.values.capture import Item

    from codexmem_core.store.catalogue import Catalogue

WINDOW_WORDS = 8
KEY_FILE = "forget.key"
"""Below the home; made when the first text is forgotten."""
_KEY_BYTES = 32
_KNOWN_WORDS = 100_000

# Scripts without spaces: every character is a word.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTERS = f"[^\\W_{_IDEOGRAPHS}]"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|{_LETTERS}+(?:[\u0300-\u036f]+{_LETTERS}*)*")
_ESCAPE = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|[nrtbf\"/])")
_SENTENCE_END = re.compile("[.!?][\"'\u201d\u2019)\\]]*\\s+|[\u3002\uff01\uff1f]+|\n")


class Word(NamedTuple):
    """A word as it is compared, and where it stands."""

    text: str
    start: int
    end: int


class Digest(NamedTuple):
    """A window that is forgotten, as it is kept."""

    window: str
    """Keyed hash of all its words, hexadecimal."""
    first: str
    """The same of its first word alone, so that most places need no second look."""
    words: int


def words(text: str) -> list[Word]:
    """The words of a text, in their order."""
    return [Word(_compared(found[0]), found.start(), found.end()) for found in _WORD.finditer(text)]


def windows(text: str) -> list[tuple[str, ...]]:
    """Windows of a text; none for a text without words."""
    found = [word.text for word in words(text)]
    if len(found) <= WINDOW_WORDS:
        return [tuple(found)] if found else []
    return [tuple(found[at : at + WINDOW_WORDS]) for at in range(len(found) - WINDOW_WORDS + 1)]


def digests(key: bytes, forgotten: Iterable[tuple[str, ...]]) -> list[Digest]:
    """Windows as they are kept."""
    return [Digest(_hash(key, window), _hash(key, window[:1]), len(window)) for window in forgotten]


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What is forgotten at one moment. Threads may share it."""

    key: bytes = b""
    by_words: dict[int, frozenset[str]] = field(default_factory=dict)
    """Number of words → hashes of windows."""
    firsts: frozenset[str] = frozenset()
    sessions: frozenset[tuple[str, str]] = frozenset()
    _first: dict[str, bool] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, key: bytes, kept: Iterable[Digest], sessions: Iterable[tuple[str, str]] = ()) -> Tombstones:
        """From what is kept; without the key texts cannot be known."""
        by_words: dict[int, set[str]] = {}
        firsts = set()
        for digest in kept if key else ():
            by_words.setdefault(digest.words, set()).add(digest.window)
            firsts.add(digest.first)
        frozen = {count: frozenset(hashes) for count, hashes in by_words.items()}
        return cls(key, frozen, frozenset(firsts), frozenset(sessions))

    def holds(self, text: str) -> bool:
        """Whether anything that is forgotten stands in the text."""
        return bool(self._spans(text, escaped=True))

    def without(self, text: str, *, lines: bool = False) -> str:
        """The text without the sentences, or (``lines``) the whole lines, in which something forgotten stands."""
        spans = self._spans(text, escaped=lines)
        if not spans:
            return text
        cut = _merged(_line(text, *span) if lines else _sentence(text, *span) for span in spans)
        kept, at = [], 0
        for start, end in cut:
            kept.append(text[at:start])
            at = end
        return "".join([*kept, text[at:]])

    def without_strings(self, value: object) -> object:
        """The same of every string inside lists and mappings; entries of which nothing is left go."""
        if not self.by_words:
            return value
        if isinstance(value, str):
            return self.without(value, lines=True)
        if isinstance(value, list | tuple):
            return [new for old in value if (new := self.without_strings(old)) not in ("", [], {}) or new == old]
        if isinstance(value, dict):
            return {key: self.without_strings(old) for key, old in value.items() if not self.holds(str(key))}
        return value

    def without_json(self, text: str) -> str:
        """The same of a text that may be JSON: then it stays JSON."""
        if not self.holds(text):
            return text
        if text.lstrip()[:1] in ("{", "["):
            try:
                return msgspec.json.encode(self.without_strings(msgspec.json.decode(text))).decode()
            except msgspec.DecodeError:
                pass
        return self.without(text, lines=True)

    def without_item(self, item: Item) -> Item | None:
        """An item of a transcript, or None when nothing is left of it."""
        if not self.by_words:
            return item
        parts = tuple(part._replace(text=self.without(part.text)) if part.text else part for part in item.parts)
        kept = tuple(new for new, old in zip(parts, item.parts, strict=True) if new.text.strip() or new == old)
        tool = item.tool
        if tool is not None:
            tool = tool._replace(input=self.without_json(tool.input), output=self.without_json(tool.output))
        cwd = "" if self.holds(item.cwd) else item.cwd
        if (kept, tool, cwd) == (item.parts, item.tool, item.cwd):
            return item
        if tool is None and not kept:
            return None
        return item._replace(parts=kept, tool=tool, cwd=cwd)

    def _spans(self, text: str, *, escaped: bool) -> list[tuple[int, int]]:
        if not self.by_words or not text:
            return []
        found = self._found(text)
        if escaped and "\\" in text:
            # Inside JSON a line end is two characters, of which the second would become part of the next word.
            found += self._found(_ESCAPE.sub(lambda match: " " * len(match[0]), text))
        return found

    def _found(self, text: str) -> list[tuple[int, int]]:
        # Nearly every text holds no first word of any window: then its words need not be put in order.
        if not any(map(self._is_first, set(_WORD.findall(text)))):
            return []
        spans = []
        given = words(text)
        for at, word in enumerate(given):
            if not self._is_first(word.text):
                continue
            for count, hashes in self.by_words.items():
                window = tuple(word.text for word in given[at : at + count])
                if len(window) == count and _hash(self.key, window) in hashes:
                    spans.append((word.start, given[at + count - 1].end))
        return spans

    def _is_first(self, word: str) -> bool:
        known = self._first.get(word)
        if known is None:
            if len(self._first) >= _KNOWN_WORDS:
                self._first.clear()
            known = self._first[word] = _hash(self.key, (_compared(word),)) in self.firsts
        return known


NOTHING_FORGOTTEN = Tombstones()


class TombstoneBook:
    """The tombstones of one home, read again when they change."""

    def __init__(self, catalogue: Callable[[], Catalogue], home: str) -> None:
        self._catalogue = catalogue
        self._path = os.path.join(home, KEY_FILE)
        self._state: tuple[str, str] | None = None
        self._current = NOTHING_FORGOTTEN
        self._lock = threading.Lock()

    def current(self) -> Tombstones:
        """What is forgotten now. Raises StoreError."""
        catalogue = self._catalogue()
        state = catalogue.tombstone_state()
        with self._lock:
            if state != self._state:
                kept = [Digest(*row) for row in catalogue.forgotten_texts()]
                self._current = Tombstones.of(self._read(), kept, catalogue.forgotten_sessions())
                self._state = state
            return self._current

    def key(self) -> bytes:
        """The key of this home, made when there is none."""
        if not self._read():
            atomic_write(self._path, secrets.token_bytes(_KEY_BYTES), KEY_FILE)
        return self._read()

    def _read(self) -> bytes:
        try:
            with open(self._path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""


def _compared(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _hash(key: bytes, window: Sequence[str]) -> str:
    return hmac.digest(key, "\x1f".join(window).encode("utf-8", "replace"), "sha256").hex()[:32]


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """From the end of the sentence before to the end of the one in which the span ends; a line end ends one too."""
    line = text.rfind("\n", 0, start) + 1
    begin = line
    for found in _SENTENCE_END.finditer(text, line):
        if found.end() > start:
            break
        begin = found.end()
    after = _SENTENCE_END.search(text, end)
    stop = len(text) if after is None else after.end()
    if begin > line and after is not None and after[0] == "\n":
        stop -= 1  # a sentence before it keeps the line
    return begin, stop


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    after = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if after < 0 else after + 1


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
