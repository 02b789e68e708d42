"""Notebook's lines become the contract's values."""

import pytest
from codexmem_hookspecs.values.capture import Line, Skipped
from codexmem_host_notebook.records import header, item


def line(data, problem=""):
    return Line(number=4, end=90, data=data, problem=problem)


def test_what_the_user_wrote_is_the_users():
    read = item(line(b'{"at": "2026-11-18T09:00:00+00:00", "me": "hello"}'))
    assert (read.tier, read.role, read.text, read.at_ms) == ("human", "user", "hello", 1794992400000)


def test_a_run_is_a_tool_with_its_command_output_and_outcome():
    read = item(line(b'{"id": "r1", "run": "make", "printed": "no rule", "failed": true}'))
    assert (read.tier, read.tool.id, read.tool.input) == ("tool", "r1", "make")
    assert (read.tool.output, read.tool.status) == ("no rule", "failed")


@pytest.mark.parametrize("data", [b"", b"3", b"{}", b'{"sketch": "cat"}', b'{"me": 5}', b"\xff", b"[" * 100_000])
def test_a_line_that_is_not_understood_is_named_with_its_place(data):
    read = item(line(data))
    assert isinstance(read, Skipped)
    assert (read.position, read.line) == (90, 4)


def test_a_damaged_line_says_what_is_wrong_with_it():
    assert item(line(b"", problem="longer than 32 MiB")).reason == "longer than 32 MiB"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"format": "diary/2", "id": "x"}', b'{"format": "notebook/1"}'])
def test_other_files_are_not_taken_for_sessions(data):
    assert header(data) == {}
