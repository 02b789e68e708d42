"""Notes that the user, or an agent on the user's behalf, asks to be remembered: a file each, never overwritten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.layout import NOTES
from codexmem_core.readpath.arguments import NOTE_LIMIT, TITLE_LIMIT
from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.times import iso_time, name_time
from codexmem_core.safety.private import MARK
from codexmem_core.safety.redaction import safe
from codexmem_core.safety.text import clean, slug

if TYPE_CHECKING:
    from codexmem_core.safety.files import GuardedFolder

GENERIC_HEADING = "Ad-hoc note"
_SLUG_CHARACTERS = 60
_SAME_NAME = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded:
    """A note that was written."""

    path: str
    redacted: bool
    """Whether it held a secret or a private span, which was not written."""

    def text(self) -> str:
        """For an agent."""
        told = f"Noted in {self.path}. The next consolidation takes it into the memory."
        return told + (
            " What it held of secrets or private spans was replaced by [REDACTED] or [private]."
            if self.redacted
            else ""
        )


def add_note(folder: GuardedFolder, note: str, *, title: str = "", now_ms: int, said_in: str) -> NoteAdded:
    """Write ``extensions/ad_hoc/notes/<UTC time>-<slug>.md``; with a taken name ``-2`` to ``-20`` is appended.

    ``said_in`` names the session. The text stays as it was given but for secrets (the first sources keep them; here
    nothing is written that the redaction knows) and private spans. Raises ToolError.
    """
    if not note.strip():
        raise ToolError("the note is empty")
    if len(note) > NOTE_LIMIT:
        raise ToolError(f"the note has {len(note)} characters, at most {NOTE_LIMIT} are allowed")
    title = " ".join(title.split())
    if len(title) > TITLE_LIMIT:
        raise ToolError(f"the title has {len(title)} characters, at most {TITLE_LIMIT} are allowed")
    body, heading = clean(safe(note)), clean(safe(title))
    if not body.replace(MARK, "").strip():
        raise ToolError("the whole note is private; nothing was written")
    name = slug(heading, _SLUG_CHARACTERS, "-") if title else slug(f"note-{iso_time(now_ms)}", _SLUG_CHARACTERS, "-")
    stem = f"{name_time(now_ms)}-{name or 'note'}"
    text = f"# {heading or GENERIC_HEADING}\n\n- created: {iso_time(now_ms)}\n- session: {clean(said_in)}\n\n{body}"
    content = (text if text.endswith("\n") else text + "\n").encode()
    redacted = (body, heading) != (clean(note), clean(title))
    for number in range(1, _SAME_NAME + 1):
        path = f"{NOTES}/{stem}{f'-{number}' if number > 1 else ''}.md"
        try:
            folder.write(path, content, exclusive=True)
        except FileExistsError:
            continue
        except (Refused, OSError) as error:
            raise ToolError(str(error)) from error
        return NoteAdded(path=path, redacted=redacted)
    raise ToolError(f"there are {_SAME_NAME} notes called {stem} already; give the note another title")
