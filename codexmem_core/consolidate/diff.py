"""Changes as people and agents read them: git's unified patches, and the text of the workspace diff file."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_hookspecs.values.consolidate import Change

DIFF_FILE = "phase2_workspace_diff.md"
"""Written while consolidation runs, never part of the baseline (Codex 0.171)."""
DIFF_LIMIT_BYTES = 4 * 1024 * 1024
"""Of the patch inside the file (Codex 0.171)."""

_CONTEXT_LINES = 3
_MODE = "100644"
_BINARY_PROBE_BYTES = 8_000
# Comparing two files of many repeated lines can take minutes. Above this many equal pairs of lines the whole old text
# is shown as removed and the whole new one as added: longer, and just as true.
_PAIRS_LIMIT = 1_000_000
_UNSAFE_IN_A_NAME = re.compile(rb'["\\\x00-\x1f\x7f]')
_ESCAPES = {0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES |= {0x22: b'\\"', 0x5C: b"\\\\"}


def file_patch(path: bytes, old: bytes | None, new: bytes | None, ids: tuple[bytes, bytes]) -> bytes:
    """One file's patch with git's headers (``core.quotePath=false``) and three lines of context.

    None stands for no file; ``ids`` are the hexadecimal blob ids, all zeros for no file.
    """
    from_name = quoted(b"a/" + path) if old is not None else b"/dev/null"
    to_name = quoted(b"b/" + path) if new is not None else b"/dev/null"
    header = b"diff --git " + quoted(b"a/" + path) + b" " + quoted(b"b/" + path) + b"\n"
    if old is None:
        header += f"new file mode {_MODE}\n".encode()
    elif new is None:
        header += f"deleted file mode {_MODE}\n".encode()
    kept_mode = f" {_MODE}".encode() if old is not None and new is not None else b""
    header += b"index " + ids[0][:7] + b".." + ids[1][:7] + kept_mode + b"\n"
    before, after = old or b"", new or b""
    if _binary(before) or _binary(after):
        return header + b"Binary files " + from_name + b" and " + to_name + b" differ\n"
    hunks = b"".join(_hunks(_lines(before), _lines(after)))
    if not hunks:
        return header
    return header + b"--- " + _ended(from_name) + b"\n+++ " + _ended(to_name) + b"\n" + hunks


def quoted(name: bytes) -> bytes:
    """A file name as git prints it: quoted where it holds control characters, quotes or bytes that are no text."""
    try:
        name.decode()
        text = True
    except UnicodeDecodeError:
        text = False
    if text and not _UNSAFE_IN_A_NAME.search(name):
        return name
    out = b"".join(
        _ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 0x20 or byte >= 0x7F else bytes((byte,)))  # noqa: PLR2004 - printable ASCII
        for byte in name
    )
    return b'"' + out + b'"'


def render_workspace_diff(changes: Sequence[Change], patch: str, limit_bytes: int = DIFF_LIMIT_BYTES) -> bytes:
    """The text of the workspace diff file, UTF-8.

    A patch longer than ``limit_bytes`` is cut there, before any character that the cut would split, and a line names
    the limit. The fence is longer than any run of backticks inside, so that no file can close it.
    """
    status = [f"- {change.status} {_one_line(change.path)}" for change in changes] or ["- none"]
    head = [
        "# Memory Workspace Diff",
        "",
        "Made by codexmem before consolidation. Do not edit.",
        "",
        "## Status",
        *status,
    ]
    if not changes:
        return _encoded("\n".join(head) + "\n")
    body = _encoded(patch)
    note = ""
    if len(body) > limit_bytes:
        body = body[:limit_bytes].decode("utf-8", "ignore").encode()
        note = f"[workspace diff truncated at {limit_bytes} bytes]\n"
    if body and not body.endswith(b"\n"):
        body += b"\n"
    runs = re.findall(rb"`{3,}", body)
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])
    opening = _encoded("\n".join(head) + f"\n\n## Diff\n\n{fence}diff\n")
    return opening + body + f"{note}{fence}\n".encode()


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    # Comparing only the middle gives the same hunks in a fraction of the time; context is taken from around it.
    start = max(first - _CONTEXT_LINES, 0)
    last = max(last - _CONTEXT_LINES, 0)
    before, after = old[start : len(old) - last], new[start : len(new) - last]
    for group in _groups(before, after):
        old_range = _range(start + group[0][1], start + group[-1][2])
        new_range = _range(start + group[0][3], start + group[-1][4])
        yield b"@@ -" + old_range + b" +" + new_range + b" @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_marked(b" ", line) for line in before[i1:i2])
            else:
                yield from (_marked(b"-", line) for line in before[i1:i2])
                yield from (_marked(b"+", line) for line in after[j1:j2])


def _groups(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    counts = Counter(new)
    # Lines commoner than this the matcher leaves out by itself, in longer texts.
    common = len(new) // 100 + 1
    if sum(counts[line] for line in old if counts[line] <= common) <= _PAIRS_LIMIT:
        yield from SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT_LINES)
    else:
        yield [("replace", 0, len(old), 0, len(new))]


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """How many lines both begin with."""
    for number, (left, right) in enumerate(zip(old, new, strict=False)):
        if left != right:
            return number
    return min(len(old), len(new))


def _range(start: int, stop: int) -> bytes:
    length = stop - start
    if length == 1:
        return b"%d" % (start + 1)
    # git and diff number an empty range by the line before it.
    return b"%d,%d" % (start + 1 if length else start, length)


def _marked(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_PROBE_BYTES]


def _ended(name: bytes) -> bytes:
    """Git marks where a name with a blank ends, for readers that cut at the first one."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _one_line(path: str) -> str:
    return quoted(path.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
