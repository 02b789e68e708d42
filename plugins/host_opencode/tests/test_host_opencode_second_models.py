"""OpenCode 2's models are given one prompt, by the service first, and nothing is made in OpenCode for it."""

import json

import pytest
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import ExtractionRequest
from codexmem_hookspecs.values.models import Message, TurnRequest
from codexmem_hookspecs.values.read import ToolInfo
from codexmem_host_opencode import plugin
from fake_opencode2 import FakeOpenCode2

(BACKEND,) = plugin.codexmem_models()
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
ANSWER = {"text": 'Here: ```json\n{"summary": "lint first"}\n```'}
MODEL = {"providerID": "local", "id": "small"}
GENERATE = "/api/experimental/generate"


def request(**changes):
    return ExtractionRequest(instructions="Extract.", input="what was said", schema=SCHEMA, **changes)


@pytest.fixture
def ask(opencode, service):
    def asked(*steps, **changes):
        service.script = list(steps)
        return BACKEND.ask(request(**changes), None, opencode.services)

    return asked


def asked_of(service):
    return [one.body for one in service.asked("POST", GENERATE)]


def refused(call, *arguments, **changes):
    with pytest.raises(ModelRefused) as raised:
        call(*arguments, **changes)
    return raised.value


def test_everything_is_asked_in_one_prompt_that_ends_with_what_to_do(service, ask):
    reply = ask(ANSWER)
    assert reply.data == {"summary": "lint first"}
    assert (reply.tokens_in > 0, reply.tokens_out > 0) == (True, True), "estimated, for nobody counts them"
    (body,) = asked_of(service)
    assert set(body) == {"prompt"}, "the server's own model"
    before, _, after = body["prompt"].partition("what was said")
    assert before.startswith("Extract.")
    assert "ends what was recorded" in after
    assert after.rstrip().endswith(json.dumps(SCHEMA, separators=(",", ":")))
    assert service.sessions == {}
    assert {one.method for one in service.requests} == {"GET", "POST"}
    assert service.asked("POST", "/api/session") == []


def test_a_turn_of_the_consolidation_is_one_prompt_too(opencode, service):
    service.script = [{"text": '{"tool": "read", "arguments": {"path": "MEMORY.md"}}'}]
    tool = ToolInfo(name="read", summary="Read.", schema={"type": "object"})
    messages = (Message(role="system", text="Consolidate."), Message(role="user", text="Begin."))
    turn = BACKEND.turn(TurnRequest(messages=messages, tools=(tool,)), opencode.services)
    assert [(call.name, call.arguments) for call in turn.calls] == [("read", {"path": "MEMORY.md"})]
    (body,) = asked_of(service)
    assert "recorded" not in body["prompt"]


def test_the_users_model_is_asked_with_the_nearest_level_that_it_has(service, ask):
    variants = [{"id": "high"}, {"id": "low", "disabled": True}]
    service.models = [{**MODEL, "modelID": "wire-name", "variants": variants}, {**MODEL, "id": "plain"}]
    ask(ANSWER, model="local/small")
    ask(ANSWER, model="local/plain", effort="medium")
    ask(ANSWER, model="local/unknown", effort="medium")
    ask(ANSWER, model="local/no/levels/named", effort="low")
    assert [body["model"] for body in asked_of(service)] == [
        MODEL | {"variant": "high"},
        {"providerID": "local", "id": "plain", "variant": "medium"},
        {"providerID": "local", "id": "unknown", "variant": "medium"},
        {"providerID": "local", "id": "no/levels/named", "variant": "low"},
    ]
    service.models = [{**MODEL, "variants": []}]
    ask(ANSWER, model="local/small")
    assert asked_of(service)[-1]["model"] == MODEL


def test_a_model_of_an_agent_that_the_user_made_for_it_is_asked(service, ask):
    service.agents = [
        {"id": "build", "model": {"providerID": "x", "id": "y"}},
        {"id": "memorize-extract", "model": MODEL},
    ]
    ask(ANSWER)
    assert {name: asked_of(service)[0]["model"][name] for name in MODEL} == MODEL


def test_a_model_that_names_no_provider_is_refused_before_anything_is_asked(service, ask):
    assert refused(ask, ANSWER, model="small").kind == "invalid"
    assert asked_of(service) == []


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"status": 401}, "credentials"),
        ({"status": 429}, "capacity"),
        ({"status": 503, "body": {"_tag": "ServiceUnavailableError", "message": "usage limit reached"}}, "capacity"),
        ({"status": 503, "body": {"_tag": "ServiceUnavailableError", "message": "model unavailable"}}, "transport"),
        ({"status": 404, "body": {"_tag": "LocationNotFoundError", "message": "no such place"}}, "capacity"),
        ({"status": 400, "body": {"message": "prompt is too long"}}, "overflow"),
        ({"text": "I would rather talk."}, "invalid"),
        ({"text": '{"other": 1}'}, "invalid"),
    ],
)
def test_a_refusal_is_of_the_kind_that_says_what_to_do(service, ask, step, kind):
    assert refused(ask, step).kind == kind
    assert len(asked_of(service)) == 1, "a prompt is never given twice"


def test_an_answer_in_another_form_is_no_answer(service, ask):
    service.broken[GENERATE] = (200, {"data": [1]})
    assert refused(ask).kind == "invalid"
    service.broken[GENERATE] = (200, {"text": ANSWER["text"]})
    assert ask().data == {"summary": "lint first"}


def test_a_service_that_generates_nothing_is_made_up_for_by_a_process(opencode, service, ask):
    service.generates = False
    with FakeOpenCode2() as process:
        place = {"url": process.url, "token": "secret"}
        opencode.saw("/home/user/proj", name="proj.2", generation=2, pid=service.pid, location=place)
        process.script = [ANSWER]
        assert ask().data == {"summary": "lint first"}
        assert len(asked_of(process)) == 1
    assert refused(ask).kind == "transport"


def test_when_neither_is_there_it_is_said_why(opencode, service, ask):
    (service.state / "service.json").unlink()
    error = refused(ask, ANSWER)
    assert (error.kind, "OpenCode 2 is unavailable: no service" in str(error)) == ("transport", True)


def test_the_generation_that_was_last_at_work_is_asked(served, service):
    served.server.script = [{"structured": {"summary": "by the first"}}]
    service.script = [ANSWER]
    served.saw("/home/user/other", url=served.server.url, hours_ago=0, name="other")
    assert BACKEND.ask(request(), None, served.services).data == {"summary": "by the first"}
    served.saw("/home/user/third", name="third.2", hours_ago=-1, generation=2, pid=service.pid)
    assert BACKEND.ask(request(), None, served.services).data == {"summary": "lint first"}
