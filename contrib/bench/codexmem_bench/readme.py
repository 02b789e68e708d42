"""What README.md says about results: which misses it explains, and which figures its table has."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
ENTRY = re.compile(r"^\* `([a-z0-9-]+)`: (.+(?:\n  .+)*)", re.MULTILINE)
ROW = re.compile(r"^\| `([a-z0-9-]+)` \|", re.MULTILINE)


def known_misses(text: str) -> dict[str, str]:
    """By the figure's key, why it is missed: entries of the section "Known misses", ``* `key`: reason``."""
    return {key: " ".join(reason.split()) for key, reason in ENTRY.findall(_section(text, "Known misses"))}


def results(text: str) -> list[str]:
    """Keys of the rows of the section "Results"."""
    return ROW.findall(_section(text, "Results"))


def _section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f'contrib/bench/README.md has no section "{title}"')
    return found[1]
