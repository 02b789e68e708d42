"""Each provider's API against a server that speaks it: what is sent, what is understood, what is refused."""

from __future__ import annotations

import json
import socket

import pytest
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.models import Message, ToolCall, TurnRequest, Usage
from codexmem_hookspecs.values.read import ToolInfo

KEY = "kz-loopback-0123456789"
GOOD = {"color": "red", "size": 3}
PATHS = {"responses": "/v1/responses", "chat": "/v1/chat/completions", "messages": "/v1/messages"}
READ = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
STREAM = "stream = true"


@pytest.mark.parametrize("stream", ["", STREAM])
def test_a_structured_answer_comes_back_with_its_price(wire, stream, serve, config_of, ask):
    server = serve(wire, {"json": GOOD, "reasoning": "hm", "usage": {"input_tokens": 70, "output_tokens": 5}})
    reply = ask(config_of(server, wire, stream))
    assert reply.data == GOOD
    assert (reply.tokens_in, reply.tokens_out) == (70, 5)
    (asked,) = server.requests
    assert asked.path == PATHS[wire]
    assert bool(asked.body.get("stream")) == bool(stream)
    assert asked.body["model"] == "little"
    assert asked.headers["user-agent"].startswith("codexmem/")


@pytest.mark.parametrize("stream", ["", STREAM])
def test_an_answer_in_text_is_parsed_and_the_schema_stands_in_the_prompt(wire, stream, serve, config_of, ask):
    server = serve(wire, {"text": f"Here:\n```json\n{json.dumps(GOOD)}\n```"})
    assert ask(config_of(server, wire, f"structured = false\n{stream}")).data == GOOD
    (asked,) = server.requests
    assert "additionalProperties" in asked.raw
    assert not {"text", "response_format", "tools", "tool_choice"} & set(asked.body)


def test_each_provider_enforces_the_schema_in_its_own_way(serve, config_of, ask, question):
    schema = question().schema
    bodies = {}
    for wire in PATHS:
        server = serve(wire, {"json": GOOD})
        ask(config_of(server, wire))
        (bodies[wire],) = server.bodies
    form = bodies["responses"]["text"]["format"]
    assert form == {"type": "json_schema", "name": "thing", "schema": schema, "strict": True}
    assert bodies["responses"]["store"] is False
    assert bodies["responses"]["instructions"] == "Look closely."
    chat = bodies["chat"]["response_format"]
    assert chat == {"type": "json_schema", "json_schema": {"name": "thing", "schema": schema, "strict": True}}
    assert [message["role"] for message in bodies["chat"]["messages"]] == ["system", "user"]
    assert bodies["messages"]["tool_choice"] == {"type": "tool", "name": "thing"}
    assert bodies["messages"]["tools"][0]["input_schema"] == schema
    assert bodies["messages"]["max_tokens"] > 0


def test_the_key_goes_in_the_providers_own_header_and_nowhere_else(wire, serve, config_of, ask, tmp_path):
    server = serve(wire, {"json": GOOD})
    ask(config_of(server, wire))
    (asked,) = server.requests
    assert asked.headers.get("x-api-key" if wire == "messages" else "authorization", "").endswith(KEY)
    assert KEY not in asked.raw
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert kept
    assert KEY.encode() not in kept


def test_another_address_is_never_given_the_providers_usual_key(serve, ask):
    server = serve("chat", {"json": GOOD})
    config = f'[models]\nbackend = "openai"\nbase_url = "{server.url}/v1"\nwire = "chat"\nmodel = "local"\n'
    ask(config, environ={"OPENAI_API_KEY": "for-openai-only"})
    (asked,) = server.requests
    assert "authorization" not in asked.headers
    assert "for-openai-only" not in str(asked)


def test_without_a_key_nothing_is_sent_and_a_key_opens_it_again(serve, config_of, ask):
    server = serve("responses", {"json": GOOD})
    config = config_of(server, "responses")
    with pytest.raises(ModelRefused, match="MODEL_KEY is not set") as refused:
        ask(config, environ={"MODEL_KEY": ""})
    assert refused.value.kind == "credentials"
    assert server.requests == []
    assert ask(config).data == GOOD


def test_effort_is_asked_for_only_from_a_list(wire, serve, config_of, ask):
    server = serve(wire, {"json": GOOD}, {"json": GOOD})
    ask(config_of(server, wire))
    ask(config_of(server, wire, 'efforts = ["medium", "high"]'))
    plain, pinned = server.bodies
    where = {
        "responses": ("reasoning", "effort"),
        "chat": ("reasoning_effort",),
        "messages": ("output_config", "effort"),
    }
    assert where[wire][0] not in plain
    value = pinned
    for key in where[wire]:
        value = value[key]
    assert value == "medium"


def test_usage_is_estimated_when_the_provider_tells_none(wire, serve, config_of, ask, question):
    server = serve(wire, {"json": GOOD, "usage": None})
    reply = ask(config_of(server, wire), question(text="x" * 4000))
    assert 1000 <= reply.tokens_in <= 1100
    assert reply.tokens_out > 0


TOOLS = (ToolInfo(name="read", summary="Read a file.", schema=READ), ToolInfo(name="glob", summary="List.", schema={}))
TALK = (
    Message(role="system", text="You keep the memory."),
    Message(role="user", text="Begin."),
    Message(
        role="assistant",
        text="I look.",
        calls=(
            ToolCall(id="c1", name="read", arguments={"path": "a.md"}),
            ToolCall(id="c2", name="glob", arguments={"pattern": "*"}),
        ),
    ),
    Message(role="tool", text="content of a", answers="c1"),
    Message(role="tool", text="a.md", answers="c2"),
)


def turn_of(engine_of, config, request=None):
    engine = engine_of(config)
    return engine.model.turn(request or TurnRequest(messages=TALK, tools=TOOLS), engine.services_for("memory-v1"))


@pytest.mark.parametrize("stream", ["", STREAM])
def test_a_turn_brings_the_calls_that_the_model_wants(wire, stream, serve, config_of, engine_of):
    calls = [{"name": "read", "args": {"path": "b.md"}}, {"name": "glob", "args": {"pattern": "**"}}]
    server = serve(wire, {"text": "Now b.", "tools": calls})
    turn = turn_of(engine_of, config_of(server, wire, stream))
    assert turn.text == "Now b."
    assert [(call.name, call.arguments) for call in turn.calls] == [(c["name"], c["args"]) for c in calls]
    assert len({call.id for call in turn.calls}) == 2
    assert turn.usage == Usage(tokens_in=100, tokens_out=10)


def test_a_turn_without_calls_is_the_end(wire, serve, config_of, engine_of):
    server = serve(wire, {"text": "All done."})
    turn = turn_of(engine_of, config_of(server, wire))
    assert (turn.text, turn.calls) == ("All done.", ())


def test_calls_and_results_are_told_again_as_each_provider_wants_them(serve, config_of, engine_of):
    bodies = {}
    for wire in PATHS:
        server = serve(wire, {"text": "ok"})
        turn_of(engine_of, config_of(server, wire))
        (bodies[wire],) = server.bodies
    kinds = [item.get("type") or item["role"] for item in bodies["responses"]["input"]]
    outputs = ["function_call", "function_call", "function_call_output", "function_call_output"]
    assert kinds == ["user", "assistant", *outputs]
    assert bodies["responses"]["input"][-1] == {"type": "function_call_output", "call_id": "c2", "output": "a.md"}
    assert [message["role"] for message in bodies["chat"]["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert json.loads(bodies["chat"]["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {"path": "a.md"}
    turns = bodies["messages"]["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["tool_use_id"] for block in turns[2]["content"]] == ["c1", "c2"]
    assert bodies["messages"]["system"][0]["text"] == "You keep the memory."


def test_arguments_that_are_no_json_are_the_calls_problem_and_no_crash(serve, config_of, engine_of):
    for wire in ("responses", "chat"):
        server = serve(wire, {"tools": [{"name": "read", "raw": "{oops"}, {"name": "read", "raw": "[1]"}]})
        turn = turn_of(engine_of, config_of(server, wire))
        assert [(dict(call.arguments), bool(call.problem)) for call in turn.calls] == [({}, True), ({}, True)]


def test_a_model_without_tool_calls_answers_with_one_action_a_time(wire, serve, config_of, engine_of):
    action = {"tool": "read", "arguments": {"path": "b.md"}}
    server = serve(wire, {"text": f"I think:\n{json.dumps(action)}"}, {"text": "hm"}, {"json": {"done": True}})
    config = config_of(server, wire, "tool_calls = false")
    first, second, third = (turn_of(engine_of, config) for _ in range(3))
    assert [(call.id, call.name, call.arguments) for call in first.calls] == [("action_3", "read", {"path": "b.md"})]
    assert second.calls[0].problem
    assert third.calls == ()
    body, raw = server.bodies[0], server.requests[0].raw
    assert "tools" not in body
    assert "content of a" in raw
    assert '\\"done\\": true' in raw


REFUSALS = [
    ({"error": 401, "message": "who are you"}, "credentials", 1),
    ({"error": 403, "message": "not you"}, "credentials", 1),
    ({"error": 429, "headers": {"retry-after": 7}}, "capacity", 1),
    ({"error": 529, "message": "Overloaded"}, "capacity", 1),
    ({"error": 400, "message": "maximum context length is 10 tokens"}, "overflow", 1),
    ({"error": 400, "message": "unknown parameter"}, "invalid", 1),
    ({"error": 500, "message": "boom", "repeat": True}, "transport", 3),
    ({"error": 502, "message": "<html>bad gateway", "plain": True, "repeat": True}, "transport", 3),
    ({"reset": True, "repeat": True}, "transport", 3),
    ({"html": True}, "invalid", 1),
    ({"body": '{"output": [{"type": "mess', "content_type": "application/json"}, "invalid", 1),
    ({"json": GOOD, "short": 20, "repeat": True}, "transport", 3),
    ({"body": "[]"}, "invalid", 1),
    ({"body": "{}"}, "invalid", 1),
    ({"body": '{"output": 3, "choices": [], "content": "x"}'}, "invalid", 1),
    ({"json": {"color": "red"}}, "invalid", 1),
    ({"text": "I would rather not."}, "invalid", 1),
]


@pytest.mark.parametrize(("step", "kind", "requests"), REFUSALS, ids=[str(step)[:50] for step, _, _ in REFUSALS])
def test_what_is_no_usable_answer_is_refused_with_its_kind_and_few_requests(
    wire, step, kind, requests, serve, config_of, ask
):
    server = serve(wire, step)
    with pytest.raises(ModelRefused) as refused:
        ask(config_of(server, wire))
    assert refused.value.kind == kind
    assert len(server.requests) == requests


STREAMS = [
    ({"json": GOOD, "cut": True, "repeat": True}, "transport", 3),
    ({"text": "x", "stream_error": {"type": "overloaded_error", "message": "Overloaded"}}, "capacity", 1),
    ({"text": "x", "stream_error": {"code": "context_length_exceeded", "message": "no"}}, "overflow", 1),
    ({"html": True}, "invalid", 1),
    ({"body": "data: {}\n\n", "content_type": "text/event-stream", "repeat": True}, "transport", 3),
    ({"body": "event: x\ndata: 3\n\n", "content_type": "application/json", "repeat": True}, "transport", 3),
]


@pytest.mark.parametrize(("step", "kind", "requests"), STREAMS, ids=[str(step)[:50] for step, _, _ in STREAMS])
def test_a_stream_that_breaks_is_no_answer(wire, step, kind, requests, serve, config_of, ask):
    server = serve(wire, step)
    with pytest.raises(ModelRefused) as refused:
        ask(config_of(server, wire, STREAM))
    assert refused.value.kind == kind
    assert len(server.requests) == requests


def test_a_failure_that_passes_is_asked_again_and_every_request_is_counted(wire, serve, config_of, engine_of, question):
    server = serve(wire, {"error": 500}, {"reset": True}, {"json": GOOD})
    engine = engine_of(config_of(server, wire))
    assert engine.services_for("memory-v1").models.ask(question(), None).data == GOOD
    (usage,) = engine.catalogue.usage()
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (3, 100, 10)
    assert (usage.stage, usage.memory, usage.model, usage.day) == ("extraction", "memory-v1", "little", "2026-11-30")


def test_a_stream_that_never_ends_is_left_after_its_time(wire, serve, config_of, ask):
    server = serve(wire, {"json": GOOD, "cut": True, "drip": True, "repeat": True})
    with pytest.raises(ModelRefused, match=r"no end after 0\.2 s") as refused:
        ask(config_of(server, wire, f"{STREAM}\ntimeout_s = 0.2"))
    assert refused.value.kind == "transport"
    assert len(server.requests) == 3


def test_an_answer_cut_at_its_longest_length_or_refused_is_no_note(wire, serve, config_of, ask):
    stopped = "max_tokens" if wire == "messages" else "length"
    server = serve(wire, {"json": GOOD, "stopped": stopped})
    with pytest.raises(ModelRefused, match="longest length"):
        ask(config_of(server, wire))
    if wire != "messages":
        server = serve(wire, {"refusal": "I will not do that"})
        with pytest.raises(ModelRefused, match="I will not do that"):
            ask(config_of(server, wire))


def test_a_full_context_window_in_the_answer_is_an_overflow(serve, config_of, ask):
    server = serve("messages", {"text": "", "stopped": "model_context_window_exceeded"})
    with pytest.raises(ModelRefused) as refused:
        ask(config_of(server, "messages"))
    assert refused.value.kind == "overflow"


def test_an_error_that_repeats_the_key_does_not_pass_it_on(wire, serve, config_of, ask, tmp_path):
    server = serve(wire, {"error": 401, "message": f"Incorrect key provided: {KEY}."})
    with pytest.raises(ModelRefused) as refused:
        ask(config_of(server, wire))
    assert KEY not in str(refused.value)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert KEY.encode() not in kept


def test_no_secret_leaves_in_a_question_or_a_turn(wire, serve, config_of, ask, engine_of, question):
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    server = serve(wire, {"json": GOOD}, {"text": "ok"})
    config = config_of(server, wire)
    ask(config, question(text=f"my token is {secret}", instructions=f"use {secret}"))
    write = ToolCall(id="c9", name="write", arguments={"content": f"token {secret}"})
    talk = (*TALK, Message(role="assistant", calls=(write,)), Message(role="tool", text=secret, answers="c9"))
    turn_of(engine_of, config, TurnRequest(messages=talk, tools=TOOLS))
    assert len(server.requests) == 2
    assert all(secret not in asked.raw for asked in server.requests)


def test_what_a_model_says_is_redacted_before_anybody_sees_it(wire, serve, config_of, ask, engine_of):
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    call = {"name": "write", "args": {"content": f"the token is {secret}"}}
    server = serve(wire, {"json": {"color": f"as {secret}", "size": 1}}, {"text": secret, "tool": call})
    config = config_of(server, wire)
    assert secret not in str(ask(config))
    assert secret not in str(turn_of(engine_of, config))


def test_loopback_is_asked_past_every_proxy(wire, serve, config_of, ask, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = serve(wire, {"json": GOOD})
    assert ask(config_of(server, wire)).data == GOOD


def test_elsewhere_is_asked_through_the_proxy(serve, monkeypatch, ask):
    proxy = serve("chat", {"json": GOOD})
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    config = '[models]\nbackend = "openai"\nbase_url = "http://models.example/v1"\nwire = "chat"\nmodel = "m"\n'
    assert ask(config).data == GOOD
    assert proxy.requests[0].headers["host"] == "models.example"


def test_a_server_that_is_not_there_is_a_refusal(ask, wire, config_of):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    class Nobody:
        url = f"http://127.0.0.1:{port}"

    with pytest.raises(ModelRefused, match="ConnectError") as refused:
        ask(config_of(Nobody, wire))
    assert refused.value.kind == "transport"
