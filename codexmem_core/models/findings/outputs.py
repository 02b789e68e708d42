"""What a tool printed: whether it failed, whether tests passed, and the one line that says what went wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codexmem_core.models.findings.sentences import shortened

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import ToolUse

    from codexmem_core.models.findings.commands import Call

ERROR_CHARS = 200
WINDOW_CHARS = 8_000
"""Of an output the beginning and the end of this length are looked at."""
BLOCK_CHARS = 400
"""Longest message that stands below its key."""

_EXIT = re.compile(
    r"(?:^|\n)(?:Process exited with code|Exit code:?|exit status:?|\[exit code:?)\s*(-?\d+)"
    r'|"?exit_code"?\s*[:=]\s*(-?\d+)',
    re.IGNORECASE,
)
_FAILED_TESTS = re.compile(
    r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\b(?:failures|errors)=[1-9]|^FAILED\b|\bBUILD FAILED\b|^FAIL\b"
    r"|^not ok \d|^# fail [1-9]|test result: FAILED",
    re.MULTILINE,
)
_PASSED_TESTS = re.compile(
    r"\b[1-9]\d* (?:passed|passing|tests? ok)\b|^OK\b|^ok\s|^PASS\b|test result: ok|\b0 fail(?:ed|ures)\b|^# fail 0$",
    re.MULTILINE,
)
_ERRORS = (
    re.compile(r"^(?:E\s+)?[\w.]*(?:Error|Exception|Panic)\b(?:: .+|\[.+|$)"),
    re.compile(
        r"\bundefined (?:reference|symbol)|\bundefined: \w|\berror(?:\[\w+\]| \w+\d+)?:|\bfatal:|\bpanic:|^ERROR\b"
        r"|^npm (?:ERR!|error)|\bERR_\w+",
        re.IGNORECASE,
    ),
    re.compile(
        r"command not found|No such file|Permission denied|cannot |not found|refused|timed out|denied|unable to"
        r"|\*\*\* No rule",
        re.IGNORECASE,
    ),
    re.compile(r"^FAILED\b|\bfailed\b|^FAIL\b", re.IGNORECASE),
)
_SAYS_ONLY_THAT = re.compile(
    # make, the linker, cargo, npm, pip, unittest: the program below them failed, and it said why.
    r"^make(?:\[\d+\])?: \*\*\* \[|^collect2: error: ld returned|^error: (?:could not compile|test failed|aborting due|"
    r"process didn't exit|subprocess-exited|script |command failed|recipe )|^npm (?:ERR!|error) (?:code|errno|path|"
    r"command|A complete log|Lifecycle|\s)|^FAILED \((?:failures|errors)=|^ninja: build stopped|^Caused by:$|"
    r"^ELIFECYCLE|^Build FAILED|^\w+Error:?$",
    re.IGNORECASE,
)
"""Lines that only say that something failed; they count when nothing says what."""
_BLOCK = re.compile(r"^([ \t]*)(error|message): *[|>][+-]?[ \t]*\n((?:\1[ \t]+\S[^\n]*\n|[ \t]*\n)+)", re.MULTILINE)
"""A YAML block below its key, as in TAP."""
_WRAPPING = re.compile(
    r"^(?:Exit code|Process exited|Wall time|Output:|Chunk ID|Original token count|Total output lines|"
    r"Script (?:completed|failed)|"
    r"Command:|Traceback|\[exit|<|\{|={3,}|-{3,}|$)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all|any|the|your|previous)|\b(?:you must|from now on|remember "
    r"(?:this|that|to)|system prompt|"
    r"instructions?)\b|\b(?:always|never) \w+|^system\s*:|^(?:note|important)\b.{0,20}\b(?:assistant|agent|"
    r"ai)\b|以后|记住|今後|覚えて",
    re.IGNORECASE,
)


def failed(tool: ToolUse, call: Call) -> bool:
    """Whether a result is a failure: the host says so, an exit status does, or a test summary does."""
    output = _window(tool.output)
    for match in (*_EXIT.finditer(output[:600]), *_EXIT.finditer(output[-300:])):
        return int(match.group(1) or match.group(2)) != 0 or ("test" in call.purposes and _tests_failed(output))
    return tool.status == "failed" or ("test" in call.purposes and _tests_failed(output))


def tests_passed(tool: ToolUse) -> bool:
    """For a test command that did not fail: whether the output or the status says that tests passed."""
    return tool.status == "completed" or bool(_PASSED_TESTS.search(_window(tool.output)))


def error_line(output: str) -> str:
    """The line of a failure's output that says what went wrong; empty when none does.

    Lines that give orders are left out: an error message tells what happened, not what to do from now on. A line that
    only says that something failed gives way to one that says what.
    """
    text = _window(output)
    if '"output"' in text or "\\n" in text:
        text = text.replace("\\n", "\n").replace('"output":"', '"output":\n')
    text = _BLOCK.sub(lambda block: f"{block[1]}{block[2]}: {' '.join(block[3][:BLOCK_CHARS].split())}\n", text)
    lines = [shortened(re.sub(r"^E\s+", "", line), ERROR_CHARS) for line in text.split("\n")]
    lines = [line for line in lines if not _WRAPPING.match(line) and not _ORDERS.search(line)]
    telling = [line for line in lines if not _SAYS_ONLY_THAT.search(line)]
    for candidates in (telling, lines):
        for number, pattern in enumerate(_ERRORS):
            found = [line for line in candidates if pattern.search(line)]
            if found:
                return found[-1 if number == 0 else 0]
    return next(iter((*telling, *lines)), "")


def _tests_failed(output: str) -> bool:
    return bool(_FAILED_TESTS.search(output))


def _window(output: str) -> str:
    output = (
        output.encode("utf-8", "replace").decode()
        if len(output) <= 2 * WINDOW_CHARS
        else (output[:WINDOW_CHARS] + "\n" + output[-WINDOW_CHARS:]).encode("utf-8", "replace").decode()
    )
    return output.replace("\r", "\n")
