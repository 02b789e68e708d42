"""Marks around what is injected, so that no client of the server takes it for something that was said.

OpenViking DESIGN: injected context boundary. :mod:`cleaning` takes such blocks out of what is sent; the engine puts its
own fence around them.
"""

from __future__ import annotations

import re

from codexmem_ov_commit import utf16

_MARKS = re.compile(r"<\s*/?\s*(openviking-context|relevant-memor(?:y|ies))\b[^<>]*>?", re.IGNORECASE)


def wrapped(body: str, source: str, form: str = "") -> str:
    """``body`` in its marks; empty for nothing. Marks inside become plain words, so that none can close ours."""
    inner = utf16.trimmed(_MARKS.sub(lambda mark: f"[{mark[1].lower()}]", body))
    if not inner:
        return ""
    kind = f' format="{form}"' if form else ""
    return f'<openviking-context source="{source}"{kind}>\n{inner}\n</openviking-context>'
