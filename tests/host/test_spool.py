"""Events wait in files until somebody has recorded them."""

from __future__ import annotations

import os

import pytest

from codexmem_core.host.spool import Header, Spool, parsed


def test_events_come_back_in_order_of_time_with_header_and_payload(tmp_path):
    spool = Spool(str(tmp_path / "spool"))
    spool.write("codex", "Stop", b'{"a": 1}\n', at_ms=2_000)
    spool.write("claude", "SessionStart", b"{}", at_ms=1_000, header="v1 abc pid=42 started=7.9")
    first, second = spool.read_all()
    assert (first.host, first.event, first.at_ms, first.header, first.payload) == (
        "claude", "SessionStart", 1_000, Header(memory="v1", generation="abc", pid=42, started="7.9"), b"{}",
    )  # fmt: skip
    assert (second.host, second.event, second.header, second.payload) == ("codex", "Stop", Header(), b'{"a": 1}\n')


def test_an_empty_or_missing_spool_has_no_events(tmp_path):
    assert list(Spool(str(tmp_path / "none")).read_all()) == []


def test_what_is_still_being_written_is_not_seen(tmp_path):
    spool = Spool(str(tmp_path))
    (tmp_path / ".0000000001000.x.codex.Stop").write_bytes(b"\n{}")
    assert spool.names() == []


def test_a_file_that_is_no_event_is_told_and_can_be_set_aside(tmp_path):
    spool = Spool(str(tmp_path))
    (tmp_path / "0000000001000.x.codex.Stop").write_bytes(b"no header line")
    (tmp_path / "what.is.this").write_bytes(b"\n{}")
    told = dict(spool.read_all())
    assert told["0000000001000.x.codex.Stop"] == "there is no header line"
    assert "TIME.UNIQUE.HOST.EVENT" in told["what.is.this"]
    for name in told:
        assert os.path.isfile(spool.set_aside(name))
    assert spool.names() == []


def test_a_link_in_the_spool_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"\n{}")
    spool = Spool(str(tmp_path / "spool"))
    os.makedirs(tmp_path / "spool")
    os.symlink(secret, tmp_path / "spool" / "0000000001000.x.codex.Stop")
    ((name, reason),) = spool.read_all()
    assert name == "0000000001000.x.codex.Stop"
    assert reason


def test_a_fifo_in_the_spool_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "0000000001000.x.codex.Stop")
    (told,) = Spool(str(tmp_path)).read_all()
    assert isinstance(told, tuple)


def test_a_recorded_event_goes(tmp_path):
    spool = Spool(str(tmp_path))
    name = spool.write("codex", "Stop", b"{}", at_ms=1)
    spool.remove(name)
    assert spool.names() == []


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("", Header()),
        (" pid=1 started=2.3", Header(pid=1, started="2.3")),
        ("v1 abc", Header(memory="v1", generation="abc")),
        ("v1", Header(memory="v1")),
        (" oversized=70000000", Header(oversized=70_000_000)),
        ("v1 abc later=x pid=many", Header(memory="v1", generation="abc")),
    ],
)
def test_a_header_is_read_as_far_as_it_is_understood(line, header):
    assert parsed(line) == header


def test_what_another_process_took_in_meanwhile_is_no_trouble(tmp_path):
    spool = Spool(str(tmp_path))
    names = [spool.write("codex", "Stop", b"{}", at_ms=number) for number in (1, 2)]
    events = spool.read_all()
    assert next(events).name == names[0]
    for name in names:
        spool.remove(name)
    assert list(events) == []
    spool.remove(names[0])


def test_what_a_killed_hook_left_unfinished_is_swept_after_an_hour(tmp_path):
    spool = Spool(str(tmp_path))
    old, young = tmp_path / ".0000000001000.x.codex.Stop", tmp_path / ".0000000002000.x.codex.Stop"
    for path in (old, young):
        path.write_bytes(b"\n{")
    os.utime(old, (0, 0))
    spool.sweep()
    assert (old.exists(), young.exists()) == (False, True)


def test_sweeping_passes_over_what_is_no_file(tmp_path):
    for name in (".0.folder", ".1.file"):
        path = tmp_path / name
        path.mkdir() if "folder" in name else path.write_bytes(b"")
        os.utime(path, (0, 0))
    Spool(str(tmp_path)).sweep()
    assert os.listdir(tmp_path) == [".0.folder"]
