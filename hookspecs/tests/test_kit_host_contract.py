"""HostContract passes a small good host, and notices what a bad one does wrong."""

import json
import os
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.testing import FileHostContract
from codexmem_hookspecs.values.capture import Answer, Event, Item, Part, Presence, Session, Skipped
from codexmem_hookspecs.values.read import Caller
from codexmem_hookspecs.values.setup import SHIM, Edit, InstalledHook

HOOK_API = 1
KINDS = {"Begin": "start", "Ask": "prompt", "Halt": "stop"}


class DiaryHost:
    """A made-up agent that keeps a diary of lines ``{"diary": id, "who": …, "text": …}``."""

    name = "diary"
    title = "Diary"
    answers = MappingProxyType({"Begin": "startup"})
    kinds = KINDS
    limit_bytes = 0
    hides_citations = False
    keeps_context = False
    gives_tools = False

    def tool_name(self, name):
        return f"codexmem/{name}"

    def caller(self, caller, environ, read):
        return str(caller.meta.get("diary", ""))

    def homes(self, environ):
        return (os.path.join(environ["HOME"], ".diary"),) if "HOME" in environ else ()

    def own_memories(self, environ):
        return ()

    def decode(self, event, payload, at_ms):
        if event not in KINDS or not isinstance(payload.get("session_id"), str) or not payload["session_id"]:
            return ()
        kind, id_ = KINDS[event], payload["session_id"]
        moment = {"start": "startup", "prompt": "prompt"}.get(kind, "")
        session = Session(host=self.name, id=id_)
        return (Event(id=f"{at_ms:015d}", host=self.name, kind=kind, session=session, at_ms=at_ms, moment=moment),)

    def encode(self, event, answer):
        if event not in self.answers or answer == Answer():
            return b""
        return json.dumps(answer.context.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).encode()

    def own_text(self, item):
        return item.role == "system"

    def own_agent(self, session):
        return False

    def plan(self, request):
        path, content = self.listed(request)
        others = [line for line in content.splitlines(keepends=True) if SHIM not in line]
        ours = [f"{event}: {request.command(event)}\n" for event, kind in KINDS.items() if kind in request.kinds]
        text = "".join([*others, *ours])
        if text == content:
            return ()
        before, after = content.encode() or None, text.encode() or None
        return (Edit(path=path, before=before, after=after, summary=f"{len(ours)} hooks"),)

    def installed(self, request):
        path, content = self.listed(request)
        ours = [line.split(": ", 1) for line in content.splitlines() if SHIM in line]
        return [InstalledHook(event=event, path=path, command=command) for event, command in ours]

    def listed(self, request):
        path = os.path.join(self.homes(request.environ)[0], "hooks")
        try:
            return path, (request.read(path) or b"").decode()
        except UnicodeDecodeError:
            raise Refused(f"{path}: no text") from None


def record(data):
    try:
        line = json.loads(data)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "diary" in line else {}


class Diary:
    """The plugin."""

    tiers = MappingProxyType({"user": "human", "assistant": "final", "system": "context"})

    @hookimpl
    def codexmem_capture_host(self):
        return [DiaryHost()]

    @hookimpl
    def codexmem_capture_sessions(self, query, services):
        folder = services.open_folder(query.folder or DiaryHost().homes(services.environ)[0])
        sessions = []
        try:
            for stat in folder.scan():
                path = os.path.join(folder.root, stat.path)
                if query.known.holds(path, stat.stamp):
                    continue
                line = record(next(folder.lines(stat.path)).data)
                if line:
                    query.claim(path)
                    sessions.append(self.describe(path, line, stat, folder.tail(stat.path)))
        except FileNotFoundError:
            return []
        return sorted(sessions, key=lambda session: -session.updated_at_ms)

    def describe(self, path, line, stat, tail):
        ms = stat.mtime_ns // 10**6
        revision = f"{tail[1]}:{hash(tail[0])}"
        common = {"updated_at_ms": ms, "touched_at_ms": ms, "stamp": stat.stamp, "size_bytes": tail[1]}
        return Session(host="diary", id=line["diary"], locator=path, revision=revision, **common)

    @hookimpl
    def codexmem_capture_transcript(self, session, after, services):
        known = 0
        for line in services.open_folder(os.path.dirname(session.locator)).lines(
            os.path.basename(session.locator), after
        ):
            found = record(line.data)
            if found is None:
                yield Skipped(position=line.end, reason="no JSON", line=0 if after else line.number)
            elif found:
                known += 1
                parts = (Part(kind="text", text=found["text"]),)
                yield Item(tier=self.tiers[found["who"]], role=found["who"], position=line.end, parts=parts)
        if not known and not after:
            raise Unreadable("not a diary")

    @hookimpl
    def codexmem_capture_presence(self, sessions, services):
        there = {session.id: os.path.exists(session.locator) for session in sessions}
        return {id_: Presence.present if found else Presence.unknown for id_, found in there.items()}


def lines(id_, *texts):
    who = ("user", "assistant", "system")
    said = [{"diary": id_, "who": who[number % 3], "text": text} for number, text in enumerate(texts)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in said)


class TestDiary(FileHostContract):
    plugin = Diary()
    files: ClassVar = {"a.jsonl": lines("a", "hi", "ho", "GIVEN"), "b.jsonl": lines("b", "hello", "yes", "x", "more")}
    payloads = tuple((event, {"session_id": "s"}) for event in KINDS)
    own_context = "GIVEN"
    callers = ((Caller(host="diary", cwd="/home/dev", meta={"diary": "a"}), {}, {}, "a"),)
    set_up: ClassVar = {".diary/hooks": b"# mine\nBegin: other program\n"}


def bad(**methods):
    """A diary with methods exchanged, as the contract sees it."""
    broken = type("BadDiary", (Diary,), {"__module__": __name__, **methods})
    contract = TestDiary()
    contract.plugin = broken()
    return contract


def bad_host(**methods):
    host = type("BadHost", (DiaryHost,), methods)()
    return bad(codexmem_capture_host=hookimpl(lambda self: [host]))


def planning(change):
    """A plan whose edits are changed."""

    def plan(self, request):
        return [change(edit, request) for edit in DiaryHost.plan(self, request)]

    return plan


def careless(edit, request):
    """Throws away what others wrote."""
    ours = [line for line in (edit.after or b"").splitlines(keepends=True) if SHIM.encode() in line]
    return replace(edit, after=b"".join(ours) or None)


def doubled(self, request):
    """Adds ours whatever stands there."""
    path, content = self.listed(request)
    ours = "".join(f"{event}: {request.command(event)}\n" for event, kind in KINDS.items() if kind in request.kinds)
    edit = Edit(path=path, before=content.encode() or None, after=(content + ours).encode(), summary="more")
    return [edit] if ours else []


def trusting(self, request):
    """Says of every entry that the host would ask first."""
    return [replace(hook, trust="untrusted") for hook in DiaryHost.installed(self, request)]


def overwriting(self, request):
    """Takes what it does not understand for nothing."""
    try:
        return DiaryHost.plan(self, request)
    except Refused:
        return [Edit(path=self.homes(request.environ)[0] + "/hooks", before=b"", after=b"x", summary="all new")]


def changed(change):
    """A transcript hook that changes the items of the good one."""

    @hookimpl
    def codexmem_capture_transcript(self, session, after, services):
        yield from change(list(Diary.codexmem_capture_transcript(self, session, after, services)))

    return codexmem_capture_transcript


@hookimpl
def deaf_to_what_is_known(self, query, services):
    return Diary.codexmem_capture_sessions(self, replace(query, known=Known()), services)


@hookimpl
def forgetful(self, sessions, services):
    return {session.id: Presence.gone for session in sessions}


@hookimpl
def claims_all(self, query, services):
    folder = services.open_folder(query.folder or "/")
    for stat in folder.scan() if query.folder else ():
        query.claim(os.path.join(folder.root, stat.path))
    return Diary.codexmem_capture_sessions(self, query, services)


@hookimpl
def unordered(self, query, services):
    found = Diary.codexmem_capture_sessions(self, query, services)
    return [replace(session, updated_at_ms=number) for number, session in enumerate(found)]


@pytest.mark.parametrize(
    ("contract", "test"),
    [
        (bad(codexmem_capture_presence=None), "test_all_hooks_of_a_host_are_there"),
        (bad_host(name="Diary"), "test_the_host_describes_itself"),
        (
            bad_host(own_memories=lambda self, environ: ("memories",)),
            "test_places_are_absolute_and_come_from_the_environment",
        ),
        (bad_host(decode=lambda self, event, payload, at_ms: ()), "test_recorded_payloads_become_events"),
        (bad_host(decode=lambda self, event, payload, at_ms: payload["session_id"]), "test_odd_payloads_are_nothing"),
        (bad_host(encode=lambda self, event, answer: b""), "test_an_answer_holds_the_context_and_nothing_is_nothing"),
        (bad(codexmem_capture_sessions=unordered), "test_sessions_are_found_complete_and_newest_first"),
        (bad(codexmem_capture_sessions=deaf_to_what_is_known), "test_unchanged_sessions_are_neither_opened_nor_given"),
        (bad(codexmem_capture_sessions=claims_all), "test_a_folder_is_recognised_by_content"),
        (bad(codexmem_capture_presence=forgetful), "test_a_vanished_file_is_unreadable_and_its_presence_unknown"),
        (bad(codexmem_capture_transcript=changed(reversed)), "test_items_are_complete_and_in_order"),
        (
            bad(codexmem_capture_transcript=changed(lambda entries: entries[:1])),
            "test_reading_after_a_position_gives_what_a_full_reading_gives_there",
        ),
        (
            bad(codexmem_capture_transcript=changed(lambda entries: [e for e in entries if isinstance(e, Item)])),
            "test_a_broken_line_is_skipped_and_stops_nothing",
        ),
        (
            bad(codexmem_capture_transcript=hookimpl(lambda self, session, after, services: iter(()))),
            "test_nothing_understood_is_unreadable_and_not_empty",
        ),
        (
            bad(codexmem_capture_transcript=hookimpl(lambda self, session, after, services: iter(()))),
            "test_a_shortened_file_is_rewritten",
        ),
        (bad_host(own_text=lambda self, item: False), "test_own_text_is_what_a_hook_gave_and_nothing_else"),
        (bad_host(own_text=lambda self, item: True), "test_own_text_is_what_a_hook_gave_and_nothing_else"),
        (bad_host(tool_name=lambda self, name: "codexmem"), "test_every_tool_has_a_name_of_its_own"),
        (bad_host(caller=lambda self, caller, environ, read: ""), "test_recorded_calls_name_their_session"),
        (bad_host(caller=lambda self, caller, environ, read: "last"), "test_a_call_that_tells_nothing_is_nobodys"),
        (
            bad_host(plan=planning(lambda edit, request: replace(edit, path="hooks"))),
            "test_a_plan_comes_from_what_it_is_given",
        ),
        (bad_host(plan=doubled), "test_what_was_planned_is_installed_and_needs_no_second_edit"),
        (bad_host(installed=trusting), "test_what_was_planned_is_installed_and_needs_no_second_edit"),
        (bad_host(plan=doubled), "test_fewer_events_take_the_others_out"),
        (bad_host(plan=doubled), "test_a_moved_interpreter_replaces_the_entries"),
        (bad_host(plan=planning(careless)), "test_entries_of_others_stay_and_come_back_as_they_were"),
        (bad_host(plan=overwriting), "test_a_file_that_is_not_understood_is_refused_by_its_name"),
    ],
)
def test_what_a_bad_host_does_wrong_is_noticed(contract, test, codexmem_services):
    method = getattr(contract, test)
    given = {"codexmem_services": codexmem_services, "content": None}
    arguments = [given[name] for name in method.__code__.co_varnames[1 : method.__code__.co_argcount]]
    with pytest.raises((AssertionError, KeyError, pytest.fail.Exception)):
        method(*arguments)
