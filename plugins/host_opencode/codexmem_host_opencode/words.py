"""What OpenCode puts around the words of a user."""

from __future__ import annotations

import re

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def unquoted(text: str) -> str:
    """A prompt as it was typed: ``opencode run`` puts one that holds spaces into quotes (OpenCode 1.18)."""
    found = QUOTED.fullmatch(text.strip())
    return found[1].replace('\\"', '"') if found else text
