"""OpenCode's models are asked in sessions that are marked, can do nothing but answer, and are removed again."""

import pytest
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_hookspecs.values.extract import ExtractionRequest
from codexmem_hookspecs.values.models import Message, TurnRequest
from codexmem_hookspecs.values.read import ToolInfo
from codexmem_host_opencode import backend, plugin

(BACKEND,) = plugin.codexmem_models()
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
SCHEMA["additionalProperties"] = False
ANSWER = {"structured": {"summary": "lint first"}}
CATALOGUE = [
    {"id": "local", "models": {"small": {"variants": {"high": {}, "medium": {"disabled": True}}}, "plain": {}}}
]


def request(**changes):
    return ExtractionRequest(instructions="Extract.", input="what was said", schema=SCHEMA, **changes)


@pytest.fixture
def ask(served):
    def asked(*steps, **changes):
        served.server.script = list(steps)
        return BACKEND.ask(request(**changes), None, served.services)

    return asked


def prompts(served):
    return [one.body for one in served.server.requests if one.method == "POST" and one.path.endswith("/message")]


def made(served):
    return served.server.asked("POST", "/session")


def refused(call, *arguments, **changes):
    with pytest.raises(ModelRefused) as raised:
        call(*arguments, **changes)
    return raised.value


def test_it_costs_and_has_an_agent():
    assert (BACKEND.name, BACKEND.costs, BACKEND.turn is not None) == ("opencode", True, True)


def test_a_question_is_a_session_that_can_only_answer_and_is_gone_afterwards(served, ask):
    assert ask(ANSWER).data == {"summary": "lint first"}
    (creation,) = made(served)
    assert creation.body["title"] == "codexmem-extraction"
    assert creation.body["metadata"] == {"codexmem": True}
    assert creation.body["permission"][0] == {"permission": "*", "pattern": "*", "action": "deny"}
    assert [rule["permission"] for rule in creation.body["permission"] if rule["action"] != "deny"] == [
        "StructuredOutput"
    ]
    assert creation.query["directory"].startswith(served.services.folder.root), "no project's instructions are read"
    (prompt,) = prompts(served)
    assert prompt["system"] == "Extract."
    assert prompt["parts"] == [{"type": "text", "text": "what was said"}]
    assert prompt["format"] == {"type": "json_schema", "schema": SCHEMA}
    assert "tools" not in prompt, "it would replace the session's permissions"
    assert served.server.conversations == {}
    assert served.services.sessions.own == {("opencode", "ses_made1")}
    assert served.server.requests[-1].method == "GET", "that it is gone is seen, not believed"


def test_a_session_that_does_not_go_is_told_and_swept_when_it_is_old(served, ask):
    served.server.survives_deletion = True
    ask(ANSWER)
    assert [event for event, _ in served.services.log.warnings] == ["a session of ours stays in OpenCode for now"]
    assert served.services.sessions.own == {("opencode", "ses_made1")}, "it is never learned from"
    served.server.survives_deletion = False
    served.server.conversations["ses_made1"]["info"]["time"]["created"] = NOW_MS - 91 * 60_000
    ask(ANSWER)
    assert served.server.conversations == {}


def test_only_what_has_both_marks_and_is_old_is_removed(served, ask):
    old, young = NOW_MS - 91 * 60_000, NOW_MS - 89 * 60_000
    mark = {"codexmem": True}

    def put(id_, title, created, metadata):
        times = {"created": created, "updated": created}
        info = {"id": id_, "title": title, "directory": "/x", "time": times, "metadata": metadata}
        served.server.put({"info": info, "messages": []})

    put("left", "codexmem-extraction", old, mark)
    put("young", "codexmem-consolidation", young, mark)
    put("renamed", "codexmem-extraction", old, None)
    put("fork", "codexmem-extraction (fork #1)", old, mark)
    put("users", "Notes on codexmem-extraction", old, mark)
    served.sessions()
    assert sorted(served.server.conversations) == ["fork", "renamed", "users", "young"]
    assert {id_ for _, id_ in served.services.sessions.own} == {"left", "young"}
    ask(ANSWER)
    assert sorted(served.server.conversations) == ["fork", "renamed", "users", "young"]


@pytest.mark.parametrize(
    ("limit", "silent"),
    [("own_sessions.DELETE_S", ("DELETE", "/session/ses_made1")), ("backend.LIST_S", ("GET", "/experimental/session"))],
)
def test_neither_tidying_nor_removing_takes_for_ever(served, ask, monkeypatch, limit, silent):
    monkeypatch.setattr(f"codexmem_host_opencode.{limit}", 0.5)
    served.server.silent.add(silent)
    assert ask(ANSWER).data == {"summary": "lint first"}


# The model


@pytest.fixture
def configured(served):
    served.server.config = {"small_model": "local/small", "model": "local/large"}
    served.server.agents = [{"name": "memorize-extract", "model": {"providerID": "own", "modelID": "agents"}}]
    return served


def asked_model(served):
    model = prompts(served)[-1].get("model")
    return model and f"{model['providerID']}/{model['modelID']}"


def test_the_users_option_stands_above_everything(configured, ask):
    ask(ANSWER, model="vendor/family/name")
    assert asked_model(configured) == "vendor/family/name"


def test_then_comes_the_small_model_or_the_model_that_opencode_is_told_to_use(configured, ask):
    ask(ANSWER)
    assert asked_model(configured) == "local/small"
    configured.server.script = [{"structured": {"done": True}}]
    BACKEND.turn(TurnRequest(messages=(Message(role="user", text="go"),)), configured.services)
    assert asked_model(configured) == "local/large"


def test_then_the_model_of_an_agent_that_the_user_has_for_it(configured, ask):
    configured.server.config = {"small_model": "no slash"}
    ask(ANSWER)
    assert asked_model(configured) == "own/agents"
    configured.server.agents = [{"name": "memorize-extract"}]
    ask(ANSWER)
    assert asked_model(configured) is None


def test_else_opencode_decides(served, ask):
    served.server.broken["/config"] = (500, {})
    ask(ANSWER)
    assert asked_model(served) is None


def test_an_option_that_names_no_provider_is_refused_before_anything_is_asked(configured, ask):
    error = refused(ask, ANSWER, model="large")
    assert error.kind == "invalid"
    assert "PROVIDER/MODEL" in str(error)
    assert made(configured) == []


@pytest.mark.parametrize(
    ("model", "catalogue", "effort", "asked"),
    [
        ("local/small", CATALOGUE, "low", "high"),
        ("local/small", CATALOGUE, "high", "high"),
        ("local/plain", CATALOGUE, "low", "low"),
        ("local/unknown", CATALOGUE, "low", "low"),
        ("local/small", [], "low", "low"),
        ("local/small", [{"id": "local", "models": {"small": {"variants": {}}}}], "low", None),
        ("local/small", [{"id": "local", "models": {"small": {"variants": {"thinking": {}}}}}], "low", None),
        ("local/small", "nonsense", "low", "low"),
        ("", CATALOGUE, "low", "low"),
    ],
)
def test_the_effort_is_the_nearest_that_the_model_has(served, ask, model, catalogue, effort, asked):
    served.server.providers = catalogue
    ask(ANSWER, model=model, effort=effort)
    assert prompts(served)[-1].get("variant") == asked


# What is answered


def test_an_object_in_the_text_is_as_good_when_the_model_did_not_use_the_tool(ask):
    error = {"name": "StructuredOutputError", "data": {"message": "Model did not produce structured output"}}
    assert ask({"text": 'Here: {"summary": "x"}', "error": error}).data == {"summary": "x"}


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"structured": {"other": 1}}, "invalid"),
        ({"text": "no object"}, "invalid"),
        ({}, "invalid"),
        ({"error": {"name": "StructuredOutputError", "data": {"message": "none"}}}, "invalid"),
        ({"error": {"name": "APIError", "data": {"message": "slow down", "statusCode": 429}}}, "capacity"),
        ({"error": {"name": "APIError", "data": {"message": "no", "statusCode": 401}}}, "credentials"),
        ({"error": {"name": "APIError", "data": {"message": "usage limit reached"}}}, "capacity"),
        ({"error": {"name": "APIError", "data": {"message": "went wrong"}}}, "transport"),
        ({"error": {"name": "ProviderAuthError", "data": {"message": "log in"}}}, "credentials"),
        ({"error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}, "overflow"),
        ({"error": {"name": "MessageAbortedError"}}, "transport"),
        ({"error": {"name": "Brand new"}}, "transport"),
        ({"error": {"name": 7}}, "invalid"),
        ({"status": 500}, "transport"),
        ({"status": 400, "body": {"name": "BadRequest"}}, "invalid"),
        ({"status": 200, "body": ["what"]}, "invalid"),
        ({"status": 200, "body": "<html>"}, "invalid"),
    ],
)
def test_a_refusal_is_of_the_kind_that_says_what_to_do(served, ask, step, kind):
    assert refused(ask, step).kind == kind
    assert [one for one in served.server.requests if one.path.endswith("/abort")] == [], "nothing goes on there"
    assert served.server.conversations == {}, "the session goes all the same"


def test_a_rate_limit_says_how_long_to_wait(ask):
    data = {"message": "slow", "statusCode": 429, "responseHeaders": {"retry-after": "7"}}
    assert refused(ask, {"error": {"name": "APIError", "data": data}}).retry_after_s == 7
    data["responseHeaders"]["retry-after"] = "9" * 30
    assert refused(ask, {"error": {"name": "APIError", "data": data}}).retry_after_s == 86_400
    data["responseHeaders"]["retry-after"] = "Mon, 30 Nov 2026 21:42:36 GMT"
    assert refused(ask, {"error": {"name": "APIError", "data": data}}).retry_after_s == 0


def test_all_steps_of_a_session_are_paid_for(served, ask):
    tokens = {"input": 200, "output": 20, "reasoning": 5, "cache": {"read": 30, "write": 1}}
    served.server.spent = tokens
    reply = ask(ANSWER)
    assert (reply.tokens_in, reply.tokens_out) == (231, 25)
    assert refused(ask, {"structured": {"other": 1}}).usage.tokens_in == 231


def test_a_prompt_that_takes_too_long_is_given_up_with_its_session(served, ask, monkeypatch):
    monkeypatch.setattr(backend, "PROMPT_S", 1.0)
    error = refused(ask, {"hold": True})
    assert error.kind == "transport"
    assert "timed out" in str(error)
    assert [one.path for one in served.server.requests if one.path.endswith("/abort")] == ["/session/ses_made1/abort"]
    assert served.server.conversations == {}


# Turns


TOOLS = (ToolInfo(name="write", summary="Write a file", schema={"type": "object"}),)


def turn(served, *steps, said=()):
    served.server.script = list(steps)
    messages = (Message(role="system", text="Consolidate."), Message(role="user", text="go"), *said)
    return BACKEND.turn(TurnRequest(messages=messages, tools=TOOLS), served.services)


def test_a_turn_is_one_structured_action(served):
    result = turn(served, {"structured": {"tool": "write", "arguments": {"path": "a.md"}}})
    (call,) = result.calls
    assert (call.name, call.arguments) == ("write", {"path": "a.md"})
    (prompt,) = prompts(served)
    assert "Consolidate." in prompt["system"]
    assert "Write a file" in prompt["system"]
    assert made(served)[0].body["title"] == "codexmem-consolidation"


def test_a_turn_goes_on_with_everything_that_was_done(served):
    first = turn(served, {"structured": {"tool": "write", "arguments": {}}})
    said = (Message(role="assistant", calls=first.calls), Message(role="tool", text="done", answers=first.calls[0].id))
    assert turn(served, {"structured": {"done": True}}, said=said).calls == ()
    assert "done" in prompts(served)[-1]["parts"][0]["text"]


def test_an_answer_that_is_no_action_is_told_to_the_model(served):
    (call,) = turn(served, {"text": "I am thinking"}).calls
    assert call.problem


# A server of our own


def test_without_a_server_and_a_program_it_is_refused_with_what_to_do(opencode):
    opencode.uninstall()
    error = refused(BACKEND.ask, request(), None, opencode.services)
    assert error.kind == "transport"
    assert "[host-opencode] program" in str(error)


def test_without_a_server_one_is_started_that_only_we_can_ask(opencode, server):
    """The program prints where a server listens; ours is asked with a password that it was given."""
    program = opencode.folder / "serving"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$OPENCODE_SERVER_USERNAME:$OPENCODE_SERVER_PASSWORD:$CODEXMEM_CHILD $@" >>{opencode.note}\n'
        f"echo opencode server listening on {server.url}\n"
        "exec sleep 60\n"
    )
    program.chmod(0o755)
    opencode.services.settings["program"] = str(program)
    server.script = [ANSWER, ANSWER]
    for _ in range(2):
        assert BACKEND.ask(request(), None, opencode.services).data == {"summary": "lint first"}
    (started,) = opencode.note.read_text().splitlines()
    user, password, rest = started.split(":")
    assert (user, rest) == ("codexmem", "1 serve --hostname 127.0.0.1 --port 0")
    assert len(password) > 20
    assert all(one.headers.get("authorization", "").startswith("Basic ") for one in server.requests)


def test_a_program_that_does_not_serve_is_refused_with_its_last_words(opencode):
    opencode.program.write_text("#!/bin/sh\necho cannot bind\nexit 1\n")
    opencode.program.chmod(0o755)
    opencode.services.settings["program"] = str(opencode.program)
    error = refused(BACKEND.ask, request(), None, opencode.services)
    assert (error.kind, "cannot bind" in str(error)) == ("transport", True)
