"""The five tools of the consolidation agent. They see one memory root and write what that memory lets them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from codexmem_hookspecs.cuts import cut_bytes
from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.agent_forms import DEFAULT_LINES, RESULT_BYTES, TOOLS, Mistaken, checked
from codexmem_core.consolidate.agent_paths import plain_path, plain_pattern
from codexmem_core.consolidate.draft import WRITE_BYTES
from codexmem_core.consolidate.glob import matches
from codexmem_core.consolidate.grep import Wanted
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codexmem_hookspecs.services import Log
    from codexmem_hookspecs.values.models import ToolCall

    from codexmem_core.consolidate.agent_paths import Permits
    from codexmem_core.consolidate.draft import Draft

TEXTS = 16
TEXT_CHARS = 500
HITS = 500
_CUT = "\n[... cut here ...]\n"
_CLEARED_TEXTS = 16


class AgentTools:
    """Answers calls. Never raises for what a call asks; every call leaves a line in the log."""

    def __init__(self, draft: Draft, permits: Permits, log: Log, go_on: Callable[[], None]) -> None:
        self._draft = draft
        self._permits = permits
        self._log = log
        self._go_on = go_on
        """Asked in loops over files; raises when the work is no longer wanted."""
        self._cleared: OrderedDict[bytes, str] = OrderedDict()
        self.calls = 0
        self.refusals: list[str] = []
        """What was refused because it is not allowed, in order."""

    def call(self, call: ToolCall) -> str:
        """The result, or ``<tool> refused: …`` for what is not allowed and ``<tool> error: …`` for what is wrong."""
        self.calls += 1
        name = clean(str(call.name))[:40] or "call"
        try:
            text, outcome = self._done(call), "done"
        except Refused as error:
            text, outcome = f"{name} refused: {_words(error)}", "refused"
            self.refusals.append(redact(text))
        except Mistaken as error:
            text, outcome = f"{name} error: {error}", "error"
        except (FileNotFoundError, NotADirectoryError):
            text, outcome = f"{name} error: no such file", "error"
        except OSError as error:
            text, outcome = f"{name} error: {error.strerror or error}", "error"
        text = cut_bytes(clean(redact(text)), RESULT_BYTES, _CUT)
        why = "" if outcome == "done" else text[:300]
        self._log.info("agent tool", tool=name, path=_named_in(call.arguments), outcome=outcome, why=why)
        return text

    def _done(self, call: ToolCall) -> str:
        if call.problem:
            raise Mistaken(f"the call could not be understood: {call.problem[:300]}")
        tool = next((tool for tool in TOOLS if tool.name == call.name), None)
        if tool is None:
            raise Refused(f"there is no such tool; there are {', '.join(tool.name for tool in TOOLS)}")
        given = checked(tool, call.arguments)
        answer: str = getattr(self, f"_{tool.name}")(**given)
        return answer

    def _read(self, path: str, offset: int = 1, limit: int = DEFAULT_LINES) -> str:
        path = self._opened(path)
        lines = self._text(path).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not lines:
            return f"{path} is empty"
        if offset > len(lines):
            raise Mistaken(f"{path} has {len(lines)} lines")
        shown: list[str] = []
        size = 0
        for line in lines[offset - 1 : offset - 1 + limit]:
            size += len(line.encode("utf-8", "replace")) + 1
            if shown and size > RESULT_BYTES - 500:
                break
            shown.append(line)
        last = offset - 1 + len(shown)
        more = f"; go on with offset {last + 1}" if last < len(lines) else ""
        return f"{path}, lines {offset} to {last} of {len(lines)}{more}\n" + "\n".join(shown)

    def _write(self, path: str, content: str) -> str:
        path = self._writable(path)
        if len(content) > WRITE_BYTES:  # before anything is made of it
            raise Refused(
                f"{path}: {len(content)} characters are more than the {WRITE_BYTES} bytes that a file may have"
            )
        size = self._draft.write(path, content)
        return f"{path}: {size} bytes written"

    def _edit(self, path: str, old_string: str, new_string: str, *, replace_all: bool = False) -> str:
        path = self._writable(path)
        text = self._text(path)
        if not old_string:
            raise Mistaken("old_string is empty; use write to make a file")
        if old_string == new_string:
            raise Mistaken("old_string and new_string are the same")
        count = text.count(old_string)
        if count == 0:
            raise Mistaken(f"old_string does not stand in {path}; read it again, blanks and line ends count")
        if count > 1 and not replace_all:
            raise Mistaken(f"old_string stands {count} times in {path}; take in more around it, or say replace_all")
        if len(text) + count * (len(new_string) - len(old_string)) > WRITE_BYTES:
            raise Refused(f"{path} would be larger than the {WRITE_BYTES} bytes that a file may have")
        self._draft.write(path, text.replace(old_string, new_string))
        return f"{path}: {count} {'place' if count == 1 else 'places'} replaced"

    def _glob(self, pattern: str) -> str:
        pattern = plain_pattern(pattern)
        found = [path for path in self._paths() if matches(path, pattern) and self._draft.exists(path)]
        return _listed(found) or f"no file fits {pattern}"

    def _grep(self, pattern: str, path: str = "", *, ignore_case: bool = False) -> str:
        texts = [text for text in pattern.split("\n") if text]
        if not texts or len(texts) > TEXTS or any(len(text) > TEXT_CHARS for text in texts):
            raise Mistaken(f"pattern must be 1 to {TEXTS} texts, one a line, of 1 to {TEXT_CHARS} characters each")
        wanted = Wanted(texts, ignore_case)
        where = "**" if path in ("", ".", "./") else plain_pattern(path.rstrip("/"))
        hits: list[str] = []
        for file in self._paths():
            self._go_on()
            if not (matches(file, where) or file.startswith(f"{where}/")):
                continue
            try:
                self._draft.refuse_shared(file)
                raw = self._draft.read(file)
            except Refused:
                continue
            if wanted.may_be_in(raw):
                found = islice(wanted.lines(self._clear(raw)), HITS + 1)
                hits += [f"{file}:{number}: {line}" for number, line in found]
            if len(hits) > HITS:
                break
        return _listed(hits[:HITS], more=len(hits) > HITS) or "no line holds that (grep looks for plain text)"

    def _opened(self, path: str) -> str:
        path = plain_path(path)
        self._draft.refuse_shared(path)
        return path

    def _writable(self, path: str) -> str:
        path = self._permits.writable(path)
        self._draft.refuse_shared(path)
        return path

    def _text(self, path: str) -> str:
        """What the agent may see of a file: whole, before any window is cut, or half of a secret could stay."""
        return self._clear(self._draft.content(path).decode("utf-8", "replace"))

    def _clear(self, raw: str) -> str:
        key = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).digest()
        if key not in self._cleared:
            self._cleared[key] = clean(redact(raw))
            if len(self._cleared) > _CLEARED_TEXTS:
                self._cleared.popitem(last=False)
        self._cleared.move_to_end(key)
        return self._cleared[key]

    def _paths(self) -> Iterable[str]:
        """All files that can be named."""
        for path in self._draft.walk():
            if path.isprintable() and "\\" not in path:
                yield path


def _listed(lines: Iterable[str], *, more: bool = False) -> str:
    """Lines within the size of a result; whole ones only."""
    shown, size = [], 0
    for line in lines:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > RESULT_BYTES - 500:
            more = True
            break
        shown.append(line)
    return "\n".join([*shown, "[there are more: narrow it down]"] if more else shown)


def _named_in(arguments: object) -> str:
    """What a call is about, for the log."""
    if not isinstance(arguments, Mapping):
        return ""
    value = arguments.get("path", arguments.get("pattern", ""))
    return clean(str(value))[:200]


def _words(error: Refused) -> str:
    """Without the number that an error of the system carries in its text."""
    return "no such file" if isinstance(error, FileNotFoundError) else str(error)
