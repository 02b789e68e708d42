"""Finds values that are assigned to secret names, and replaces them so that JSON, YAML, shell and code stay whole.

Works on UTF-8 bytes. Which quote or bracket encloses a name is known from its own line only: a quote that was never
closed can then spoil no more than that line, and in valid JSON no string reaches beyond its line.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from codexmem_core.safety.values import Value, ValueReader

_TAIL = rb"""(?P<close>\\*["'`])?
(?:(?:(?<=["'`])\s{0,64}|[ \t]{0,64})(?P<sep>===?|:=|=>|:(?![:=])|=(?![=>~])|\xef\xbc\x9a)
|(?P<pair>,?\s{0,200}(?:"value"|'value'|\\"value\\"|value)\s{0,8}[:=])
|(?P<tag>>)
|(?P<item>,\s{0,8}(?=["']))
|(?P<said>[ \t]{1,4}(?:is|was)[ \t]{1,4})(?=[^\s])
|(?P<gap>[ \t]{1,8})(?=[^\s=:>|&;,.)]))"""


class _Name(NamedTuple):
    """A word that names a secret, met in the text in lower case."""

    needle: bytes
    rest: bytes
    """What may follow the needle within the name."""
    before: re.Pattern[bytes] | None = None
    """What must stand before it."""


_KEY_OWNER = re.compile(
    rb"(?:api|access|secret|private|preshared|account|auth|signing|signature|encryption|decryption|master|shared|"
    rb"storage|service|deploy|license|subscription|consumer|session|client|admin|webhook|app|ssh|jwt|hmac|aes|rsa)"
    rb"[ _-]?$"
)
_ENVIRONMENT_KEY = re.compile(rb"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,62}_$")
_HARMLESS_KEY = re.compile(rb"(?:PUBLIC|PRIMARY|FOREIGN|CACHE|SORT|PARTITION|HASH|ROW|UNIQUE|GROUP|INDEX|HOT|MAP)_$")

_NAMES = (
    _Name(b"pass", rb"(?:wor[dt]|wd|phrase|(?<=[_-]pass))"),
    _Name(b"pwd", b""),
    _Name(b"secret", b""),
    _Name(b"token", b""),
    _Name(b"key", rb"(?P<id>[_-]?id|_base)?"),
)
_FOREIGN_NAMES = (
    _Name("密".encode(), f"(?:{'|'.join('码碼钥鑰')})".encode()),
    _Name("パスワード".encode(), b""),
    _Name("비밀번호".encode(), b""),
    _Name("ароль".encode(), b""),
)


def _compiled(name: _Name) -> tuple[bytes, re.Pattern[bytes]]:
    return name.needle, re.compile(re.escape(name.needle) + name.rest + _TAIL, re.VERBOSE)


_PATTERNS = tuple(_compiled(name) for name in _NAMES)
_FOREIGN_PATTERNS = tuple(_compiled(name) for name in _FOREIGN_NAMES)
_SECRET_NAME = re.compile(
    rb"(?:pass(?:wor[dt]|wd|phrase)|[_-]pass|pwd|secret|token|secret[ _-]key[ _-]base|"
    rb"(?:access[ _-]?key[ _-]?id)|" + b"|".join(re.escape(name.needle) + name.rest for name in _FOREIGN_NAMES) + rb")$"
)
_FLAG = re.compile(rb"(?<![A-Za-z0-9_-])--?[A-Za-z][A-Za-z0-9_-]{0,40}$|(?<![A-Za-z0-9_-])--$")
_JOINING = frozenset(bytes((code,)) for code in b"-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_LOGIN = re.compile(rb"login[ \t]+\S{1,80}[ \t]+$")
_IN_ADDRESS = re.compile(rb"://[^\s/@\"'<>]{0,80}$")
_IN_TAG = re.compile(rb"<[A-Za-z0-9_:.-]{0,40}$")
_PATH = re.compile(rb"""\s*["']?[/~][^\s"']*["']?\s*(?:[\r\n]|$)""")


def is_secret_name(name: str) -> bool:
    """Whether a key or variable of this name holds a secret."""
    raw = name.strip().encode("utf-8", "surrogatepass")
    lower = raw.lower()
    if _SECRET_NAME.search(lower) is not None:
        return True
    return lower.endswith(b"key") and _names_key(raw, lower, len(raw) - len(b"key"))


def assigned_values(raw: bytes, lower: bytes, windows: Sequence[tuple[int, int]]) -> list[Value]:
    """All values whose names stand within ``windows``, in order, none overlapping.

    ``lower`` is ``raw`` with ASCII letters in lower case.
    """
    hits = _hits(lower, _PATTERNS, windows)
    if not raw.isascii():
        hits += _hits(raw, _FOREIGN_PATTERNS, windows)
    if not hits:
        return []
    hits.sort(key=re.Match.start)
    reader, values, cursor = ValueReader(raw), [], 0
    for hit in hits:
        start = hit.start()
        if start < cursor:
            continue
        # Nearly all hits are words of a sentence, so the cheapest question comes first.
        joined = raw[start - 1 : start] in _JOINING if start else False
        flag = joined and _FLAG.search(raw, max(0, start - 48), start) is not None
        if (hit["gap"] or hit["item"]) and not (flag or _login(lower, hit)):
            continue
        if not _names_secret(raw, lower, hit):
            continue
        value = reader.value(hit, flag=flag)
        if value is not None:
            values.append(value)
            cursor = value.end
    return values


def _hits(
    text: bytes, patterns: Sequence[tuple[bytes, re.Pattern[bytes]]], windows: Sequence[tuple[int, int]]
) -> list[re.Match[bytes]]:
    hits = []
    for first, last in windows:
        for needle, pattern in patterns:
            at = text.find(needle, first, last)
            while at >= 0:
                hit = pattern.match(text, at)
                if hit is not None:
                    hits.append(hit)
                at = text.find(needle, at + len(needle), last)
    return hits


def _names_secret(raw: bytes, lower: bytes, hit: re.Match[bytes]) -> bool:
    """Whether the word really names a secret here, which its neighbours tell."""
    start = hit.start()
    if hit["tag"] and _IN_TAG.search(raw, max(0, start - 48), start) is None:
        return False
    if _IN_ADDRESS.search(raw, max(0, start - 90), start) is not None:
        return False
    word = lower[start : start + 4]
    if word.startswith(b"key"):
        if "id" in hit.re.groupindex and hit["id"]:
            owner = b"secret" if hit["id"] == b"_base" else b"access"
            return lower[:start].endswith((owner, owner + b"_", owner + b"-"))
        return _names_key(raw, lower, start)
    if word.startswith(b"pwd") and not lower[start - 1 : start].isalnum() and lower[start - 1 : start] != b"_":
        return _PATH.match(raw, hit.end()) is None  # the shell's working directory
    return True


def _names_key(raw: bytes, lower: bytes, start: int) -> bool:
    """Whether ``key`` at ``start`` opens something: api_key, PrivateKey, STRIPE_KEY; not primary_key."""
    if _KEY_OWNER.search(lower, max(0, start - 14), start) is not None:
        return True
    first = max(0, start - 64)
    return (
        raw[start : start + 3] == b"KEY"
        and _ENVIRONMENT_KEY.search(raw, first, start) is not None
        and _HARMLESS_KEY.search(raw, first, start) is None
    )


def _login(lower: bytes, hit: re.Match[bytes]) -> bool:
    """A line of a .netrc: ``machine … login … password …``."""
    start = hit.start()
    return (
        b"login" in lower[max(0, start - 100) : start]
        and hit["gap"] is not None
        and _LOGIN.search(lower, max(0, start - 100), start) is not None
    )
