"""Sessions that are files: found when they are new, measured, and present or not known to be."""

import os

import pytest
from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.session_files import changed_files, expanded, home_in, measured, newest_first, presence
from codexmem_hookspecs.values.capture import FileStat, Presence, Session, SessionQuery

NOW_MS = 1_796_040_000_000


@pytest.fixture
def put(codexmem_services):
    def write(path, content=b"x"):
        whole = os.path.join(codexmem_services.home, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(content)
        return whole

    return write


@pytest.mark.parametrize(
    ("environ", "homes"),
    [
        ({"AGENT_HOME": "/opt/agent/", "HOME": "/home/u"}, ("/opt/agent",)),
        ({"AGENT_HOME": "agent", "HOME": "/home/u"}, ("/home/u/.agent",)),
        ({"HOME": "/home/u"}, ("/home/u/.agent",)),
        ({"HOME": "relative"}, ()),
        ({}, ()),
    ],
)
def test_a_home_is_an_absolute_folder_or_none(environ, homes):
    assert home_in(environ, "AGENT_HOME", ".agent") == homes


@pytest.mark.parametrize(
    ("written", "path"),
    [("~/.agent", "/home/u/.agent"), ("/opt/~/agent", "/opt/~/agent"), ("~other/agent", "~other/agent"), ("", "")],
)
def test_a_path_may_begin_with_the_users_home(written, path):
    assert expanded(written, {"HOME": "/home/u"}) == path


def test_files_of_the_stores_that_are_not_known_are_given(put, codexmem_services):
    services = codexmem_services
    new, held, moved = put("h/a/new.jsonl"), put("h/a/held.jsonl"), put("h/b/held.jsonl")
    put("h/a/empty.jsonl", b"")
    put("h/a/notes.txt")
    put("h/other/x.jsonl")
    stat = services.open_folder(services.home).stat("h/a/held.jsonl")
    query = SessionQuery(known=Known.of([(held, stat.stamp), (new, "another"), (moved, stat.stamp)]))
    home = os.path.join(services.home, "h")
    found = dict(changed_files(home, ("a", "b", "missing"), (".jsonl",), query, services))
    assert sorted(found) == sorted([new, moved])
    assert (found[new].path, query.known.count) == ("a/new.jsonl", 1)
    assert list(changed_files("", ("a",), (), query, services)) == []
    assert services.log.warnings == []


def test_a_folder_that_the_user_named_is_looked_through_instead(put, codexmem_services):
    put("h/a/one.jsonl")
    named = [put("named/two.txt"), put("named/deep/three")]
    query = SessionQuery(folder=os.path.join(codexmem_services.home, "named"))
    home = os.path.join(codexmem_services.home, "h")
    found = [locator for locator, _ in changed_files(home, ("a",), (".jsonl",), query, codexmem_services)]
    assert sorted(found) == sorted(named)


def test_a_folder_that_cannot_be_read_is_a_warning_and_stops_no_other(put, codexmem_services):
    kept = put("h/b/one.jsonl")
    put("h/a")  # a file where a store should be
    home = os.path.join(codexmem_services.home, "h")
    found = [locator for locator, _ in changed_files(home, ("a", "b"), (), SessionQuery(), codexmem_services)]
    assert found == [kept]
    assert [fields["path"] for _, fields in codexmem_services.log.warnings] == [os.path.join(home, "a")]


def stat_of(path):
    return FileStat(path, 1, 2, 3)


def test_of_two_files_of_one_session_the_longer_counts_and_the_newest_session_comes_first(codexmem_services):
    sessions = {
        "/short": Session(host="h", id="s", locator="/short", size_bytes=1, updated_at_ms=9),
        "/long": Session(host="h", id="s", locator="/long", size_bytes=2, updated_at_ms=5),
        "/other": Session(host="h", id="t", locator="/other", size_bytes=1, updated_at_ms=7),
        "/nothing": None,
    }
    for names in (list(sessions), list(reversed(sessions))):
        files = [(name, stat_of(name)) for name in names]
        found = newest_first(files, lambda locator, stat: sessions[locator], codexmem_services)
        assert [session.locator for session in found] == ["/other", "/long"]


@pytest.mark.parametrize("error", [Unreadable("damaged"), Refused("a link"), PermissionError(13, "no")])
def test_a_file_that_cannot_be_read_is_a_warning_and_stops_no_other(codexmem_services, error):
    def describe(locator, stat):
        if locator == "/bad":
            raise error
        return Session(host="h", id=locator)

    files = [(name, stat_of(name)) for name in ("/bad", "/good")]
    assert [session.id for session in newest_first(files, describe, codexmem_services)] == ["/good"]
    assert [fields["path"] for _, fields in codexmem_services.log.warnings] == ["/bad"]


def test_a_session_is_as_active_as_its_records_say_and_never_in_the_future():
    tail = b'{"timestamp":"2026-11-30T11:59:59Z"}\n'
    stat = FileStat("x", 100, (NOW_MS + 5_000) * 1_000_000, 7)
    session = measured(Session(host="h", id="s", cwd="/w"), stat, tail, 100, NOW_MS)
    assert (session.updated_at_ms, session.touched_at_ms, session.size_bytes) == (NOW_MS - 1_000, NOW_MS, 100)
    assert (session.stamp, session.cwd) == (stat.stamp, "/w")
    silent = measured(session, stat._replace(mtime_ns=4_000_000), b"no time", 7, NOW_MS)
    assert (silent.updated_at_ms, silent.touched_at_ms) == (4, 4)
    assert silent.revision != session.revision


def test_what_cannot_be_opened_is_unknown_and_not_gone():
    def opened(session):
        if session.id == "away":
            raise Unreadable("not there")

    sessions = [Session(host="h", id="here"), Session(host="h", id="away")]
    assert presence(sessions, opened) == {"here": Presence.present, "away": Presence.unknown}
