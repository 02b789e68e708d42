"""An edit as people read it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.values.setup import Edit

NOWHERE = "/dev/null"


def unified(edit: Edit) -> str:
    """The whole change as a unified diff that ``patch`` takes."""
    before = edit.path if edit.before is not None else NOWHERE
    after = edit.path if edit.after is not None else NOWHERE
    lines = difflib.unified_diff(_lines(edit.before), _lines(edit.after), before, after)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    """Lines end where files' lines end, not at every sign that Python takes for an end."""
    text = (content or b"").decode(errors="replace")
    return [line + "\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]
