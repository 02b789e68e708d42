"""tests/PARITY.md says what is true: every row is held by a test that exists or ruled out by a decision that exists."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "tests" / "PARITY.md").read_text(encoding="utf-8")

_COUNTS = re.compile(r"^rows: (\d+), held: (\d+), cannot apply: (\d+)$", re.MULTILINE)
_NODE = re.compile(r"`([^`]+\.py(?:::\w+)+)`")
_RULED_OUT = re.compile(r'cannot apply: \w[^|]* \((DECISIONS|README)\.md, "([^"|]+)"\)')


class Row(NamedTuple):
    id: str
    behaviour: str
    holder: str

    @property
    def nodes(self) -> list[str]:
        return _NODE.findall(self.holder)

    @property
    def held(self) -> bool:
        """Nothing but test nodes stands in the cell."""
        return bool(self.nodes) and not _NODE.sub("", self.holder).replace("<br>", "").strip()


def rows() -> list[Row]:
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert {len(row) for row in cells} == {3}, "a cell holds a bar"
    return [Row(*row) for row in cells if row[0] not in ("id", "---")]


ROWS = rows()


@cache
def collected_in(path: str) -> frozenset[str]:
    """``function`` and ``Class::function`` of everything that pytest would collect in a file."""
    found: set[str] = set()

    def look(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                found.add(prefix + node.name)
            elif isinstance(node, ast.ClassDef):
                look(node.body, f"{prefix}{node.name}::")

    look(ast.parse((ROOT / path).read_text(encoding="utf-8")).body, "")
    return frozenset(found)


def headings(name: str) -> set[str]:
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    return {line.lstrip("#").strip() for line in text.splitlines() if line.startswith("##")}


def test_every_row_has_an_id_of_its_own_and_a_behaviour():
    assert ROWS
    assert all(re.fullmatch(r"P-\d{3}", row.id) and row.behaviour for row in ROWS)
    assert [number for number, count in Counter(row.id for row in ROWS).items() if count > 1] == []


def test_the_counts_at_the_head_are_right():
    (counts,) = _COUNTS.findall(PAGE)
    held = sum(row.held for row in ROWS)
    assert tuple(map(int, counts)) == (len(ROWS), held, len(ROWS) - held)


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row_is_held_by_tests_that_exist_or_ruled_out_by_a_decision_that_exists(row):
    if row.held:
        nodes = [node.split("::", 1) for node in row.nodes]
        assert [f"{path}::{name}" for path, name in nodes if name not in collected_in(path)] == []
    else:
        ruled_out = _RULED_OUT.fullmatch(row.holder)
        assert ruled_out, "neither tests nor a reason"
        assert ruled_out[2] in headings(ruled_out[1])
