"""What is spent, what stops, for how long, and for whom; all of it kept in the catalogue."""

from __future__ import annotations

import re
import threading

import pytest
from click.testing import CliRunner
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.records import ModelBackend, Setting

from codexmem_core.cli import codexmem
from codexmem_core.doctor import examine
from codexmem_core.engine import Engine
from codexmem_core.models.selection import ModelSettingsError
from codexmem_core.plugins.discovery import in_process
from codexmem_core.status import status_of

GOOD = {"color": "red", "size": 3}


@pytest.fixture
def engine_with(engine_of):
    """An engine with the backend of a plugin."""
    engines = []

    def make(backend, config='[models]\nbackend = "parrot"\n'):
        plain = engine_of(config)
        engine = Engine(
            home=plain.home.root,
            config=plain.config_path,
            environ=plain.environ,
            clock=plain.clock,
            plugins=in_process([("parrots", backend)]),
        )
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


def refused(ask, *arguments, **more):
    with pytest.raises(ModelRefused) as caught:
        ask(*arguments, **more)
    return caught.value


def test_nothing_is_asked_before_a_backend_is_chosen(engine_of):
    engine = engine_of("", OPENAI_API_KEY="there", ANTHROPIC_API_KEY="there")
    assert engine.model.backend.name == "extractive"
    assert {name for name, backend in engine.backends.items() if backend.costs} == {"openai", "anthropic", "command"}


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ('backend = "anthropic"', "no model for extraction and consolidation: set"),
        ('backend = "openai"\nbase_url = "http://127.0.0.1:1"', "no model for extraction"),
        ('backend = "command"', "needs a program"),
        ('backend = "opanai"', r"no model backend called opanai \(there are: anthropic, command, extractive, openai\)"),
    ],
)
def test_a_backend_that_lacks_a_setting_says_so_before_anything_is_asked(engine_of, config, told):
    with pytest.raises(ModelSettingsError, match=told):
        engine_of(f"[models]\n{config}").model  # noqa: B018 - made when it is looked at


def test_the_days_calls_are_an_end_and_the_next_day_a_beginning(wire, serve, config_of, ask, clock):
    server = serve(wire, *[{"json": GOOD}] * 3)
    config = config_of(server, wire, other="[budget]\ncalls_per_day = 2")
    ask(config)
    ask(config)
    error = refused(ask, config)
    assert "2 of 2 calls" in str(error)
    assert len(server.requests) == 2
    clock.turn(hours=13)
    assert ask(config).data == GOOD


def test_a_request_that_the_days_tokens_cannot_bear_is_not_sent(serve, config_of, ask, question):
    server = serve("chat", {"json": GOOD, "usage": {"input_tokens": 600, "output_tokens": 100}})
    config = config_of(server, "chat", other="[budget]\ntokens_per_day = 1000")
    ask(config)
    error = refused(ask, config, question(text="x" * 2000))
    assert "700 of 1000 tokens spent" in str(error)
    assert len(server.requests) == 1


def test_what_is_under_way_counts_so_that_nobody_overspends_together(serve, config_of, engine_of, question):
    server = serve("chat", *[{"json": GOOD}] * 20)
    engine = engine_of(config_of(server, "chat", other="[budget]\ncalls_per_day = 5"))
    models = engine.services_for("memory-v1").models
    outcomes = []

    def one():
        try:
            outcomes.append(models.ask(question(), None))
        except ModelRefused as error:
            outcomes.append(error.kind)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 5
    assert outcomes.count("capacity") == 3


def test_a_model_of_ones_own_has_no_limits_and_is_counted_all_the_same(serve, config_of, ask, engine_of):
    server = serve("chat", {"json": GOOD}, {"json": GOOD})
    config = config_of(server, "chat", "costs = false", "[budget]\ncalls_per_day = 1")
    ask(config)
    ask(config)
    engine = engine_of(config)
    assert not engine.model.backend.costs
    assert [usage.calls for usage in engine.catalogue.usage()] == [2]


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_stop_the_provider_until_they_change(wire, status, serve, config_of, ask, clock):
    server = serve(wire, {"error": status, "message": "no"}, {"json": GOOD}, {"json": GOOD})
    config = config_of(server, wire)
    assert refused(ask, config).kind == "credentials"
    clock.turn(hours=24 * 365)
    error = refused(ask, config)
    assert error.kind == "credentials"
    assert "until the credentials change" in str(error)
    assert len(server.requests) == 1
    assert ask(config, environ={"MODEL_KEY": "another"}).data == GOOD
    assert ask(config, environ={"MODEL_KEY": "another"}).data == GOOD


def test_an_answer_that_was_on_its_way_does_not_open_what_the_same_credentials_closed(serve, config_of, engine_of):
    breaker = engine_of(config_of(serve("chat"), "chat")).model_choice.breaker
    breaker.refused("extraction", ModelRefused("who are you", "credentials"))
    breaker.answered()
    assert breaker.forbids("extraction").kind == "credentials"


def test_refused_credentials_stop_only_their_own_server(serve, config_of, ask):
    bad, good = serve("chat", {"error": 401}), serve("chat", {"json": GOOD})
    refused(ask, config_of(bad, "chat"))
    assert ask(config_of(good, "chat")).data == GOOD


FORMS = [
    ({"headers": {"retry-after": 90}}, 90),
    ({"retry_in": 90}, 90),
    ({"headers": {"retry-after": 0}}, 1),
    ({"headers": {"retry-after": 10**9}}, 86_400),
    ({"headers": {"retry-after": -3}}, 1),
    ({"headers": {"retry-after": "later"}}, 3600),
    ({}, 3600),
]


@pytest.mark.parametrize(("form", "seconds"), FORMS, ids=[str(form) for form, _ in FORMS])
def test_a_rate_limit_stops_the_model_for_as_long_as_it_says(form, seconds, serve, config_of, ask, engine_of, clock):
    server = serve("responses", {"error": 429, "message": "slow down", **form}, {"json": GOOD})
    config = config_of(server, "responses")
    refused(ask, config)
    (breaker,) = engine_of(config).catalogue.breakers()
    assert breaker.scope == "model:little"
    assert abs((breaker.until_ms - clock.ms) / 1000 - seconds) <= 2  # an HTTP date has whole seconds
    clock.ms = breaker.until_ms - 1
    assert refused(ask, config).kind == "capacity"
    assert len(server.requests) == 1
    clock.ms = breaker.until_ms
    assert ask(config).data == GOOD


def test_another_model_is_not_stopped(serve, config_of, ask):
    server = serve("chat", {"error": 429}, {"json": GOOD})
    refused(ask, config_of(server, "chat"))
    assert ask(config_of(server, "chat", 'model = "other"')).data == GOOD


def test_without_a_configured_model_the_stage_is_stopped_and_the_other_goes_on(engine_with):
    backend = Scripted([ModelRefused("slow down", "capacity", 60.0)])
    engine = engine_with(backend)
    with pytest.raises(ModelRefused):
        backend.asked_by(engine)
    assert [breaker.scope for breaker in engine.catalogue.breakers()] == ["phase:extraction"]
    assert engine.model.blocked("extraction").kind == "capacity"
    assert engine.model.blocked("consolidation") is None


def test_one_configured_model_of_both_stages_stops_both(serve, config_of, ask, engine_of):
    server = serve("chat", {"error": 429})
    config = config_of(server, "chat")
    refused(ask, config)
    engine = engine_of(config)
    assert engine.model.blocked("consolidation").kind == "capacity"
    (breaker,) = engine.catalogue.breakers()
    assert breaker.scope == "model:little"


def test_another_memory_is_stopped_by_the_same_model(serve, config_of, engine_of, question):
    server = serve("chat", {"error": 429})
    engine = engine_of(config_of(server, "chat"))
    for plugin in ("memory-v1", "memory-v2", "memory-v2"):
        with pytest.raises(ModelRefused):
            engine.services_for(plugin).models.ask(question(), None)
    assert len(server.requests) == 1


def test_a_server_that_does_not_answer_is_left_alone_for_the_rest_of_the_pass(serve, config_of, engine_of, question):
    server = serve("chat", {"reset": True, "repeat": True})
    config = config_of(server, "chat")
    engine = engine_of(config)
    models = engine.services_for("memory-v1").models
    messages = [str(refused(models.ask, question(), None)) for _ in range(6)]
    assert len(server.requests) == 9
    assert messages[3].startswith("not asked again in this pass")
    assert engine_of(config).model.blocked("extraction") is None


class Scripted:
    """A plugin with a model backend that says what it was told to."""

    def __init__(self, replies, name="parrot"):
        self.replies = replies
        self.name = name

    @hookimpl
    def codexmem_models(self):
        return [ModelBackend(name=self.name, summary="says it again", costs=True, ask=self.ask)]

    def ask(self, request, transcript, services):
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def asked_by(self, engine):
        from codexmem_hookspecs.values.extract import ExtractionRequest

        request = ExtractionRequest(instructions="i" * 40, input="x" * 360, schema={})
        return engine.services_for("memory-v1").models.ask(request, None)


def test_a_plugins_backend_is_counted_by_estimate_and_held_by_the_same_limits(engine_with):
    backend = Scripted([Reply(data={"a": "b" * 40}), Reply(data={"a": "b"})])
    engine = engine_with(backend, '[models]\nbackend = "parrot"\n[budget]\ncalls_per_day = 1\n')
    backend.asked_by(engine)
    assert refused(backend.asked_by, engine).kind == "capacity"
    (usage,) = engine.catalogue.usage()
    assert (usage.model, usage.calls, usage.tokens_in, usage.tokens_out) == ("parrot", 1, 100, 10)


def test_a_plugins_refused_credentials_cannot_be_compared_and_are_tried_again_after_a_day(engine_with, clock):
    backend = Scripted([ModelRefused("who?", "credentials"), Reply(data={})])
    engine = engine_with(backend)
    refused(backend.asked_by, engine)
    clock.turn(hours=23.9)
    assert refused(backend.asked_by, engine).kind == "credentials"
    clock.turn(hours=0.2)
    assert backend.asked_by(engine).data == {}


class Curious(Scripted):
    """A backend that looks at what it is given."""

    @hookimpl
    def codexmem_settings(self):
        return [Setting(key="greeting", default="hello", help="what to say")]

    def ask(self, request, transcript, services):
        told = {"greeting": services.settings["greeting"], "folder": services.folder.root, "model": request.model}
        return Reply(data=told)


def test_a_plugins_backend_has_its_own_settings_and_folder_and_is_told_the_users_model(engine_with):
    models = '[models]\nbackend = "parrot"\nmodel = "any"\n[memories]\nextract_model = "mine"\n'
    backend = Curious([])
    engine = engine_with(backend, f'{models}[parrots]\ngreeting = "hi"\n')
    told = backend.asked_by(engine).data
    assert (told["greeting"], told["model"]) == ("hi", "mine")
    assert told["folder"] == engine.home.plugin("parrots")


def test_no_plugin_takes_the_name_of_a_built_in_backend(engine_with):
    engine = engine_with(Scripted([], name="openai"), "")
    assert engine.backends["openai"].summary != "says it again"


def test_the_catalogue_holds_a_digest_of_the_key_that_means_nothing_in_another_home(serve, config_of, ask, engine_of):
    server = serve("chat", {"error": 401})
    config = config_of(server, "chat")
    refused(ask, config)
    engine = engine_of(config)
    (breaker,) = engine.catalogue.breakers()
    assert re.fullmatch(r"[0-9a-f]{32}", breaker.fingerprint)
    engine.catalogue.set_mark("credentials_digest_key", "00" * 16)
    assert engine.model_choice.breaker.open_now() == []


def test_status_tells_what_today_cost_and_what_is_stopped_until_when(serve, config_of, ask, engine_of, tmp_path):
    server = serve("chat", {"json": GOOD}, {"error": 429, "message": "slow down", "headers": {"retry-after": 600}})
    config = config_of(server, "chat", other="[budget]\ncalls_per_day = 50")
    ask(config)
    refused(ask, config)
    status = status_of(engine_of(config))
    assert status["spending"] == {
        "day": "2026-11-30", "calls": 2, "calls_per_day": 50, "tokens": 110, "tokens_per_day": 2_000_000,
    }  # fmt: skip
    (breaker,) = status["breakers"]
    assert breaker["reason"] == "openai little: HTTP 429: slow down"
    assert breaker["until_ms"] == engine_of(config).clock.ms + 600_000


def test_the_status_command_names_the_stopped_model_and_why(serve, config_of, ask, tmp_path):
    server = serve("chat", {"error": 401, "message": "who are you"})
    config = config_of(server, "chat")
    refused(ask, config)
    arguments = ["--home", str(tmp_path / "home"), "--config", str(tmp_path / "config.toml"), "status"]
    result = CliRunner(env={"MODEL_KEY": "kz-loopback-0123456789"}).invoke(codexmem, arguments, standalone_mode=False)
    place = server.url.removeprefix("http://")
    line = f"stopped   provider:openai at {place} until the credentials change: openai little: HTTP 401: who are you"
    assert line in result.output.splitlines()
    changed = CliRunner(env={"MODEL_KEY": "another"}).invoke(codexmem, arguments, standalone_mode=False)
    assert "stopped" not in changed.output


def test_the_user_can_say_that_the_same_credentials_are_good_again(serve, config_of, ask, engine_of):
    server = serve("chat", {"error": 401, "message": "who are you"}, {"json": GOOD})
    config = config_of(server, "chat")
    refused(ask, config)
    engine = engine_of(config)
    (found,) = [finding for check, finding in examine(engine) if check == "models"]
    assert found.level == "warn"
    assert "provider:openai" in found.message
    assert "who are you" in found.message
    assert "doctor --fix" in found.fix
    assert refused(ask, config).kind == "credentials"
    assert [finding.level for check, finding in examine(engine, fix=True) if check == "models"] == ["ok"]
    assert ask(config).data == GOOD
    assert [finding.message for check, finding in examine(engine) if check == "models"] == ["nothing is stopped"]


def test_what_a_provider_asked_to_wait_for_is_waited_for_whatever_is_repaired(serve, config_of, ask, engine_of):
    server = serve("chat", {"error": 429, "message": "slow down", "headers": {"retry-after": 600}})
    config = config_of(server, "chat")
    refused(ask, config)
    for fix in (True, False):
        (found,) = [finding for check, finding in examine(engine_of(config), fix=fix) if check == "models"]
        assert found.level == "info"
        assert "is stopped until 2026-11-30 12:10:00 UTC" in found.message
