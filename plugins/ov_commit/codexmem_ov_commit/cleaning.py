"""What of a text is worth sending: injected context and harness noise out, empty talk dropped.

Rules are those of OpenViking's Codex plugin, in their order. Three of them lost text in 0.7.5 and are narrower here.
Only a bracketed timestamp is taken off a line, and only one leading number, both as in the plugin's later versions.
What begins with a path is no slash command.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from codexmem_ov_commit import utf16

Verdict = Literal["kept", "empty", "slash_command", "ack", "punctuation", "too_short", "plugin_status"]

TRUNCATED: Final = "\n[truncated]"
_TRUNCATED_ROOM: Final = 20
_WRAPPED = re.compile(
    r"<(openviking-context|relevant-memor(?:y|ies)|system-reminder)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_SENDER = re.compile(r"^Sender \([^)\n]*\):?[ \t]*\n```[^\n]*\n.*?\n```[ \t]*\n?", re.DOTALL | re.MULTILINE)
_METADATA = re.compile(
    r"^Conversation (?:metadata|info):?[ \t]*\n```[^\n]*\n.*?\n```[ \t]*\n?", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_STAMP = re.compile(
    r"^[ \t]*\[\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\][ \t]*", re.MULTILINE
)
_NUMBER = re.compile(r"^\d{10,13}[ \t]+(?=\S*[^\d\s])", re.MULTILINE)
_FENCE = re.compile(r"^```json[ \t]*\n(.*?)\n```[ \t]*\n?", re.DOTALL | re.MULTILINE)
_FENCE_KEYS = re.compile(
    r'"(session_?id|conversation_?id|channel|channel_?id|sender|sender_?id|user_?id|agent_?id|timestamp|timezone|cwd|'
    r'model|permission_?mode|message_?id|turn_?id|transcript_?path)"\s*:',
    re.IGNORECASE,
)
_FENCE_KEYS_NEEDED = 3
_DIGEST = "OpenViking memory digest:"
_ARCHIVE = "OpenViking session archive digest:"
_MORE = "More detail: use the OpenViking MCP"
_OF_DIGEST = re.compile(r"^(?:[-*#]|viking://|More detail:|Use OpenViking MCP|[ \t])")
_SLASH = re.compile(r"/(?![\w-]*(?:/|\.\w))[a-z0-9_-]{1,64}\b", re.IGNORECASE)
"""A command's name; a path or a file's name at the beginning of what the user says is none."""
_ACK = re.compile(
    r"(?:ok|okay|k|yes|yep|no|nope|thanks|thank you|thx|done|"
    "收到|好的|好|嗯|可以|继续|不用|不需要|没了|好了)[.!?。\uff01\uff1f]?",
    re.IGNORECASE,
)
_LETTER = re.compile("[a-z0-9㐀-鿿]", re.IGNORECASE)
_CJK = re.compile("[㐀-鿿぀-ヿ가-힯]")
_LATIN = re.compile("[a-z0-9]", re.IGNORECASE)
_LEAST_CJK, _LEAST_LATIN, _LEAST_UNITS = 4, 6, 12


def clean(text: str) -> str:
    """Without injected blocks, harness metadata and loose blanks."""
    text = _WRAPPED.sub(" ", utf16.whole(text).replace("\0", ""))
    for pattern in (_SENDER, _METADATA, _STAMP, _NUMBER):
        text = pattern.sub("", text)
    text = _FENCE.sub(lambda fence: "" if _is_metadata(fence[1]) else fence[0], text)
    text = "\n".join(_without_digests(text.split("\n")))
    return utf16.trimmed(re.sub(r"\n{3,}", "\n\n", re.sub(r"[^\S\n]+\n", "\n", text)))


def capped(text: str, units: int) -> str:
    """At most so many UTF-16 units, the cut marked; 0 for no limit."""
    if units <= 0 or utf16.length(text) <= units:
        return text
    return utf16.head(text, max(0, units - _TRUNCATED_ROOM)).rstrip() + TRUNCATED


def verdict(text: str, *, user: bool) -> Verdict:
    """Why a cleaned text is not worth sending, or ``kept``."""
    line = utf16.trimmed(utf16.ONE_LINE.sub(" ", text))
    if not line:
        return "empty"
    if not line.startswith(("[tool-call", "[tool-result")):
        if user and _SLASH.match(line):
            return "slash_command"
        if _ACK.fullmatch(line):
            return "ack"
        if not _LETTER.search(line):
            return "punctuation"
        if (
            len(_CJK.findall(line)) < _LEAST_CJK
            and len(_LATIN.findall(line)) < _LEAST_LATIN
            and utf16.length(line) < _LEAST_UNITS
        ):
            return "too_short"
    return "plugin_status" if line.startswith("[openviking-memory]") else "kept"


def _is_metadata(body: str) -> bool:
    return len({key.lower() for key in _FENCE_KEYS.findall(body)}) >= _FENCE_KEYS_NEEDED


def _without_digests(lines: list[str]) -> list[str]:
    """Digests that older versions gave without a wrapper."""
    kept: list[str] = []
    inside = ""
    for line in lines:
        bare = line.strip()
        if inside == _ARCHIVE:
            inside = "" if bare.startswith(_MORE) else inside
            continue
        if inside == _DIGEST and bare and _OF_DIGEST.match(line):
            continue
        inside = ""
        if bare in (_DIGEST, _ARCHIVE):
            inside = bare
        elif not bare.startswith(_MORE):
            kept.append(line)
    return kept
