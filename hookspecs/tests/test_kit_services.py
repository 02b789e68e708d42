"""The kit's services do what the contract says, on real files."""

import os

import pytest
from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.services import Services
from codexmem_hookspecs.testing import FixedClock, PlainServices, ScriptedModel
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.extract import ExtractionRequest, Findings, Reply

REQUEST = ExtractionRequest(instructions="i", input="x", schema={})


@pytest.fixture
def folder(codexmem_services, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    return codexmem_services.open_folder(str(root), write=True)


def test_the_services_are_all_there(codexmem_services, codexmem_home):
    assert isinstance(codexmem_services, Services)
    assert codexmem_services.environ["HOME"] == codexmem_home
    assert codexmem_services.clock.now_ms() == FixedClock().at_ms
    assert codexmem_services.http.request("GET", "http://127.0.0.1/").error
    assert codexmem_services.settings_for("/anywhere") == codexmem_services.settings
    codexmem_services.apart.add("/apart")
    assert [codexmem_services.learns_in(cwd) for cwd in ("/anywhere", "/apart")] == [True, False]
    with pytest.raises(FileNotFoundError):
        codexmem_services.processes.run(["codex"], timeout_s=1)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", ".git/config", "a/.hidden", "", "a//b"])
def test_paths_that_leave_the_folder_are_refused(folder, path):
    for method in (folder.read, folder.stat, folder.tail, folder.remove, lambda path: list(folder.lines(path))):
        with pytest.raises(Refused):
            method(path)
    with pytest.raises(Refused):
        folder.write(path, b"x")


def test_files_are_written_whole_and_only_where_writing_was_asked_for(folder, codexmem_services):
    folder.write("a/b.txt", b"one")
    with pytest.raises(FileExistsError):
        folder.write("a/b.txt", b"two", exclusive=True)
    folder.write("a/b.txt", b"two")
    assert folder.read("a/b.txt") == b"two"
    assert [stat.path for stat in folder.scan()] == ["a/b.txt"]
    with pytest.raises(Refused):
        folder.read("a/b.txt", limit_bytes=2)
    with pytest.raises(Refused):
        codexmem_services.open_folder(folder.root).write("c.txt", b"x")
    assert folder.remove("a/b.txt") is True
    assert folder.remove("a/b.txt") is False
    with pytest.raises(FileNotFoundError):
        folder.read("a/b.txt")


def test_lines_say_where_they_end_and_can_be_read_from_there(folder):
    folder.write("x.jsonl", b"\xef\xbb\xbfone\r\n\ntwo\nthr")
    lines = list(folder.lines("x.jsonl"))
    assert [(line.number, line.end, line.data) for line in lines] == [
        (1, 8, b"one"),
        (2, 9, b""),
        (3, 13, b"two"),
        (4, 16, b"thr"),
    ]
    assert not any(line.problem for line in lines)
    assert [line.data for line in folder.lines("x.jsonl", after=9)] == [b"two", b"thr"]
    assert next(folder.lines("x.jsonl", after=13)).number == 1
    for wrong in (5, 16, 99):
        with pytest.raises(Rewritten):
            list(folder.lines("x.jsonl", after=wrong))
    with pytest.raises(Unreadable):
        list(folder.lines("y.jsonl"))


def test_a_line_over_the_cap_is_passed_over_with_a_problem(folder):
    folder.write("x.jsonl", b"a\n" + b"x" * (33 * 1024 * 1024) + b"\nb\n")
    lines = list(folder.lines("x.jsonl"))
    assert [(line.data, bool(line.problem)) for line in lines] == [(b"a", False), (b"", True), (b"b", False)]
    assert lines[-1].end == folder.stat("x.jsonl").size


def test_a_folder_has_a_stat_of_its_own(folder):
    folder.write("inner/x", b"0")
    assert folder.stat_folder("inner").inode == os.stat(os.path.join(folder.root, "inner")).st_ino
    with pytest.raises(Refused):
        folder.stat_folder("inner/x")
    with pytest.raises(FileNotFoundError):
        folder.stat_folder("none")


def test_a_tail_knows_the_whole_length(folder):
    folder.write("x", b"0123456789")
    assert folder.tail("x", 4) == (b"6789", 10)
    assert folder.tail("x", 40) == (b"0123456789", 10)


def test_a_scan_ends_in_loops_and_meets_each_file_once(folder):
    folder.write("a/one.txt", b"1")
    folder.write("a/two.md", b"22")
    os.symlink("..", os.path.join(folder.root, "a", "loop"))
    os.symlink("a", os.path.join(folder.root, "again"))
    assert sorted(stat.path for stat in folder.scan()) == ["a/one.txt", "a/two.md"]
    met = list(folder.scan(links=True, suffixes=(".md",)))
    assert len(met) == 1
    assert met[0].size == 2
    assert folder.stat(met[0].path).stamp == met[0].stamp


def test_a_scan_or_a_stat_opens_nothing(folder, codexmem_services):
    folder.write("x", b"1")
    list(folder.scan())
    folder.stat("x")
    assert codexmem_services.opened == []
    folder.read("x")
    assert codexmem_services.opened == [os.path.join(folder.root, "x")]


def test_a_lock_is_held_by_one(folder):
    with folder.lock("state") as first, folder.lock("state") as second:
        assert (first, second) == (True, False)
    with folder.lock("state") as third:
        assert third is True


def test_the_scripted_model_says_what_it_was_told_and_remembers_the_questions(codexmem_services, codexmem_model):
    assert codexmem_services.models is codexmem_model
    model = ScriptedModel([Reply(data={"a": 1}), OSError("down")])
    assert model.ask(REQUEST, None) == Reply(data={"a": 1})
    with pytest.raises(OSError, match="down"):
        model.ask(REQUEST, None)
    assert model.ask(REQUEST, None) == Reply(findings=Findings())
    assert model.requests == [REQUEST] * 3
    assert model.backend("canned").ask(REQUEST, None, codexmem_services).findings == Findings()


def test_the_catalogue_and_the_log_remember(codexmem_services):
    session = Session(host="codex", id="1", memory_mode="polluted")
    with pytest.raises(KeyError):
        codexmem_services.sessions.get("codex", "1")
    codexmem_services.sessions.known["codex", "1"] = session
    assert codexmem_services.sessions.get("codex", "1") is session
    assert codexmem_services.sessions.mode(session) == "polluted"
    codexmem_services.sessions.register_own("codex", "2")
    assert codexmem_services.sessions.own == {("codex", "2")}
    codexmem_services.log.warning("odd", place="x:1")
    assert codexmem_services.log.warnings == [("odd", {"place": "x:1"})]
    with pytest.raises(Unreadable):
        codexmem_services.transcripts.open(session)


def test_homes_of_two_tests_are_apart(codexmem_home, tmp_path):
    assert os.listdir(codexmem_home) == []
    assert PlainServices(str(tmp_path)).environ == {"HOME": str(tmp_path)}
