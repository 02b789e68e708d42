"""Third parties build on the contract: what it has promised stays, and what comes is optional."""

import importlib
import subprocess
import sys

import pytest


@pytest.fixture
def contract(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "contrib"))
    return importlib.import_module("contract")


def test_nothing_that_was_promised_is_gone_and_everything_new_is_listed(root):
    done = subprocess.run(
        [sys.executable, root / "contrib" / "contract.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


KEPT = [
    "hook codexmem_forget 1 selector: Selector",
    "hook codexmem_forget -> Forgotten",
    "services.Folder.read -> bytes",
    "services.Folder.read 1 path: str",
    "values.capture.Event()",
    "values.capture.Event.id: str",
    "values.capture.Event.prompt: str = …",
    "values.capture.EventKind: 'start' = …",
]


@pytest.mark.parametrize(
    "new",
    [
        "values.capture.Event.answer: str = …",
        "values.capture.EventKind: 'rewind' = …",
        "services.Folder.read 2 limit_bytes: int = …",
        "services.Folder.read limit_bytes: int = …",
        "services.Folder.copy -> None",
        "hook codexmem_forget 2 services: Services",
        "hook codexmem_rewind -> None",
        "values.capture.Rewind()",
    ],
)
def test_it_may_grow(contract, new):
    assert contract.compare(KEPT, [*KEPT, new]) == ([], [new])


def test_what_is_new_as_a_whole_may_ask_for_what_it_likes(contract):
    new = ["values.capture.Rewind()", "values.capture.Rewind.to: int", "services.Folder.copy 1 path: str"]
    assert contract.compare(KEPT, [*KEPT, *new]) == ([], new)


@pytest.mark.parametrize(
    "new",
    [
        "values.capture.Event.answer: str",
        "services.Folder.read 2 limit_bytes: int",
        "services.Folder.read limit_bytes: int",
    ],
)
def test_nothing_that_must_be_given_joins_what_was_there(contract, new):
    assert contract.compare(KEPT, [*KEPT, new])[0] == [f"new and without a default: {new}"]


@pytest.mark.parametrize("place", range(len(KEPT)))
def test_whatever_goes_or_changes_is_told(contract, place):
    gone = KEPT[place]
    assert contract.compare(KEPT, [line for line in KEPT if line != gone])[0] == [f"gone or changed: {gone}"]


def test_every_line_of_the_list_can_be_missed(contract):
    """No two promises share a line, so that none hides behind another."""
    now = list(contract.promises())
    assert len(now) == len(set(now))
    assert {"hook codexmem_capture_event -> None", "values.capture.Event.id: str"} <= set(now)
