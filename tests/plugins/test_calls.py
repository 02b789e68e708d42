"""Each plugin on its own: its result, its error, its services."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import TryLater, Unreadable
from codexmem_hookspecs.values.capture import Event, Session, SessionQuery
from codexmem_hookspecs.values.records import Finding, Setting

from codexmem_core.plugins.calls import MissingHookError, PluginError, trace_to_stderr

SESSION = Session(host="h", id="1")
EVENT = Event(id="e", host="h", kind="stop", session=SESSION, at_ms=1)


class Sessions:
    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def codexmem_capture_sessions(self, query):
        yield SESSION
        if isinstance(self.answer, Exception):
            raise self.answer
        yield self.answer

    @hookimpl
    def codexmem_capture_transcript(self, session, after, services):
        yield services
        if isinstance(self.answer, Exception):
            raise self.answer


def test_one_plugin_that_raises_in_the_middle_of_its_answer_costs_no_other_its_own(load):
    plugins = load(("bad", Sessions(ValueError("broken line"))), ("good", Sessions(SESSION)))
    outcomes = {o.plugin: o for o in plugins.hooks.call_each("codexmem_capture_sessions", query=SessionQuery())}
    assert outcomes["good"].value == [SESSION, SESSION]
    assert outcomes["bad"].value is None
    assert str(outcomes["bad"].error) == "bad: codexmem_capture_sessions: ValueError: broken line"


def test_a_stream_is_lazy_and_its_late_error_names_the_plugin(load):
    plugins = load(("bad", Sessions(ValueError("late"))))
    stream = plugins.hooks.call_stream("bad", "codexmem_capture_transcript", session=SESSION, after=0)
    assert next(stream) == "bad"
    with pytest.raises(PluginError, match="bad: codexmem_capture_transcript: ValueError: late"):
        next(stream)


def test_what_the_contract_lets_hooks_raise_comes_through_as_it_is(load):
    plugins = load(("host", Sessions(Unreadable("locked"))))
    with pytest.raises(Unreadable, match="locked"):
        list(plugins.hooks.call_stream("host", "codexmem_capture_transcript", session=SESSION, after=0))

    class Later:
        @hookimpl
        def codexmem_capture_event(self, event):
            raise TryLater("server is down", after_s=7)

    with pytest.raises(TryLater) as raised:
        load(("later", Later())).hooks.call_one("later", "codexmem_capture_event", event=EVENT)
    assert raised.value.after_s == 7


def test_a_directed_call_reaches_only_the_owner(load, small_memory):
    heard = []

    class Listening(small_memory):
        @hookimpl
        def codexmem_consolidate_files(self, stored):
            heard.append(self.name)
            return {}

    plugins = load(("one", Listening("one")), ("two", Listening("two")))
    plugins.hooks.call_one("two", "codexmem_consolidate_files", stored=[])
    assert heard == ["two"]


def test_a_directed_call_to_a_plugin_without_the_hook_is_an_error_not_an_empty_answer(load, small_memory):
    plugins = load(("memory", small_memory()), ("host", Sessions(SESSION)))
    with pytest.raises(MissingHookError, match="host: codexmem_consolidate_files: not implemented"):
        plugins.hooks.call_one("host", "codexmem_consolidate_files", stored=[])


def test_none_is_no_answer(load, small_memory):
    class Silent(small_memory):
        @hookimpl
        def codexmem_extract_result(self, request, reply):
            return None

    with pytest.raises(PluginError, match="a missing answer is an error"):
        load(("s", Silent())).hooks.call_one("s", "codexmem_extract_result", request=None, reply=None)


def test_an_event_reaction_may_return_nothing(load):
    class Reacting:
        @hookimpl
        def codexmem_capture_event(self, event):
            """React."""

    assert load(("r", Reacting())).hooks.call_one("r", "codexmem_capture_event", event=EVENT) is None


def test_services_are_bound_to_the_called_plugin_and_its_deadline(load):
    given = []

    class Reacting:
        @hookimpl
        def codexmem_capture_event(self, event, services):
            given.append(services)

    plugins = load(("a", Reacting()), ("b", Reacting()), services_for=lambda plugin, deadline: (plugin, deadline))
    plugins.hooks.call_each("codexmem_capture_event", deadline="soon", event=EVENT)
    assert given == [("a", "soon"), ("b", "soon")]


class Settings:
    def __init__(self, *keys):
        self.keys = keys

    @hookimpl
    def codexmem_settings(self):
        return [Setting(key=key, default="", help="") for key in self.keys]


def test_records_are_collected_sorted_with_their_owner(load):
    collected = load(("p", Settings("b", "a")), ("q", Settings("c"))).hooks.collect("codexmem_settings", Setting)
    assert [(name, registered.plugin) for name, registered in collected.records.items()] == [
        ("a", "p"),
        ("b", "p"),
        ("c", "q"),
    ]
    assert collected.problems == ()


def test_a_name_claimed_twice_is_lost_to_both_and_told_to_both(load):
    collected = load(("p", Settings("same")), ("q", Settings("same", "own"))).hooks.collect("codexmem_settings")
    assert list(collected.records) == ["own"]
    assert [(plugin, "same is claimed by p, q" in text) for plugin, text in collected.problems] == [
        ("p", True),
        ("q", True),
    ]


def test_names_of_a_plugins_own_table_do_not_clash(load):
    plugins = load(("p", Settings("same")), ("q", Settings("same")))
    assert list(plugins.hooks.collect("codexmem_settings", named=False).records) == ["p.same", "q.same"]


def test_a_record_of_the_wrong_kind_or_with_a_bad_name_is_a_problem_of_its_plugin_alone(load):
    class Wrong:
        @hookimpl
        def codexmem_settings(self):
            return [Finding(level="ok", message=""), Setting(key="Bad Name", default=1, help="")]

    collected = load(("wrong", Wrong()), ("right", Settings("a"))).hooks.collect("codexmem_settings", Setting)
    assert list(collected.records) == ["a"]
    assert {plugin for plugin, _ in collected.problems} == {"wrong"}
    assert len(collected.problems) == 2


def test_tracing_prints_calls_and_results(load, capsys):
    plugins = load(("p", Settings("a")))
    trace_to_stderr(plugins.manager)
    plugins.hooks.call_one("p", "codexmem_settings")
    printed = capsys.readouterr().err
    assert "→ codexmem_settings [p]" in printed
    assert "← codexmem_settings" in printed
