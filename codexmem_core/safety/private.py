"""Takes out what somebody put between ``<private>`` and ``</private>``: nobody reads, stores or sends it."""

import re

MARK = "[private]"
"""Stands where something was taken out."""

_ATTRIBUTES = r"(?:\s[^<>]{0,200})?"
_TAG = re.compile(
    # As it is typed, and as JSON and HTML may write it.
    rf"(?:<|\\+u003c|&lt;)\s{{0,8}}(\\*/)?\s{{0,8}}private{_ATTRIBUTES}\s{{0,8}}(?:>|\\+u003e|&gt;)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"<[\s\\/]{0,18}private", re.IGNORECASE)
_ESCAPED = re.compile(r"(?:u003c|&lt;)[\s\\/]{0,18}private", re.IGNORECASE)


class PrivateSpans:
    """The texts of one message in their order: a span may begin in one of them and end in another.

    Spans may be nested. One that is never closed goes to the end of the message. Letter case does not matter, a closing
    tag alone means nothing.
    """

    def __init__(self) -> None:
        self._depth = 0

    @property
    def is_open(self) -> bool:
        """Whether the last text ended within a span."""
        return self._depth > 0

    def without(self, text: str) -> str:
        """The next text, with ``[private]`` for each span; the same object when there is none."""
        if not self._depth and not may_hold_private(text):
            return text
        kept: list[str] = [MARK] if self._depth and text.strip() else []
        cursor = 0
        for tag in _TAG.finditer(text):
            if not tag[1]:
                if self._depth == 0:
                    kept += [text[cursor : tag.start()], MARK]
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                cursor = tag.end()
        if not self._depth:
            kept.append(text[cursor:])
        return "".join(kept)


def strip_private(text: str) -> str:
    """One text that stands alone."""
    return PrivateSpans().without(text)


def may_hold_private(text: str) -> bool:
    """Whether it is worth looking for tags, at a fraction of the cost."""
    if _PLAIN.search(text) is not None:
        return True
    return ("u003" in text or "&lt;" in text or "&LT;" in text) and _ESCAPED.search(text) is not None
