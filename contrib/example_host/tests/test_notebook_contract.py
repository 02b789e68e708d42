"""Notebook does what every host must do."""

from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.testing import FileHostContract
from codexmem_hookspecs.values.capture import Session
from codexmem_host_notebook import plugin

SAMPLES = Path(__file__).parent.parent / "samples"


class TestNotebook(FileHostContract):
    plugin = plugin
    files: ClassVar = {path.name: path.read_bytes() for path in sorted(SAMPLES.glob("*.jsonl"))}


def test_a_file_that_became_empty_is_unreadable(codexmem_services, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    session = Session(host="notebook", id="nb-1", locator=str(tmp_path / "empty.jsonl"))
    with pytest.raises(Unreadable):
        list(plugin.codexmem_capture_transcript(session, 0, codexmem_services))
