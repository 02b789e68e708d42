"""Names worth searching for: constants, types, dotted and snake-case names, flags, error codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 60
"""Characters; longer ones are data, not names."""

_IDENTIFIER = re.compile(
    r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"  # MAX_RETRIES
    r"|\b[A-Z]{1,4}-?\d{2,6}\b"  # TS2304, E0382
    r"|\b[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b"  # ConnectionError
    r"|\b[a-z]+[A-Z][A-Za-z0-9]+\b"  # parseConfig
    r"|(?<![\w./-])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+\b"  # package.module
    r"|(?<![\w./-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/-]|\.\w)"  # parse_config
    r"|(?<!\S)--[a-z][a-z0-9-]+"  # --no-verify
)


def identifiers(text: str) -> Iterator[str]:
    """Identifiers in order of appearance, with repeats."""
    for match in _IDENTIFIER.finditer(text):
        name = match.group()
        if len(name) <= LONGEST and "REDACTED" not in name:
            yield name
