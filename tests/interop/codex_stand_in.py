"""Codex's side of the exchange, played by rules: what a consolidation of its own would do with our extension.

It reads the extension as its instructions say, one bullet a fact, passes over what is marked as its own, marks what it
takes in, and writes both files whole. Of V2 there is only the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = """v1

## User Profile

Works on boats.

## User preferences

- sign every commit

## General Tips

- the mast light is called gannet

## What's in Memory

"""
HANDBOOK = """# Task Group: /home/dev/boat
scope: work on the boat
applies_to: cwd=/home/dev/boat; reuse_rule=only here

## Task 1: Paint the hull, success

### rollout_summary_files

- rollout_summaries/2026-11-29T09-00-00-abcd-hull.md (thread_id=01a22d0b-8dec-7ef0-86c6-2ea97b52a4fe)

## User preferences

- when painting, the user asked: "two coats" -> paint twice [Task 1]

"""


class CodexStandIn:
    """A Codex home whose memory has consolidated once, without us."""

    def __init__(self, home: Path, version: str = "v1"):
        self.home = home
        self.version = version
        self.root = home / {"v1": "memories", "v2": "memories_v2"}[version]
        self.root.mkdir(parents=True)
        (home / "config.toml").write_text(f'[features]\nmemories = true\n[memories]\nversion = "{version}"\n')
        self.consolidate()

    def consolidate(self):
        """Everything that it has from us goes into groups of its own, marked."""
        taken = [f"{fact} [from codexmem]" for fact in self.taken_in()]
        (self.root / "memory_summary.md").write_text(
            SUMMARY + "### Older Memory Topics\n\n" + "".join(f"{fact}\n" for fact in taken[:5])
        )
        if self.version == "v1":
            group = "# Task Group: from codexmem\n\n## Reusable knowledge\n\n" if taken else ""
            (self.root / "MEMORY.md").write_text(HANDBOOK + group + "".join(f"{fact}\n" for fact in taken))

    def taken_in(self):
        """Bullets of our files, each once, but for those that come from here."""
        lines = [
            line
            for path in sorted((self.root / "extensions/codexmem_import/resources").rglob("*.md"))
            for line in path.read_text().splitlines()
            if line.startswith("- ") and "[from codex]" not in line and "rollout_summaries/" not in line
        ]
        return list(dict.fromkeys(lines))

    @property
    def artifacts(self):
        return {path.name: path.read_bytes() for path in sorted(self.root.glob("*.md"))}
