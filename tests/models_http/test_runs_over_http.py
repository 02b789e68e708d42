"""Whole passes against scripted servers: what is asked, how often, and what the state says afterwards."""

from __future__ import annotations

import json

import pytest

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.status import status_of

NOTE = {"rollout_summary": "# Harbor\n\nThe crane stands.", "rollout_slug": "crane", "raw_memory": "The crane stands."}
ASKED = "Please move the crane to the other side of the harbor."


def jobs_of(engine):
    """(status, failure, retries left, seconds until the next attempt) of each extraction that is not done."""
    with engine.jobs("memory-v1") as jobs:
        now = engine.clock.now_ms() // 1000
        return [
            (job.status, job.failure, job.retries_left, max(0, job.retry_at - now))
            for job in jobs.unfinished()
            if job.kind == "memory_stage1"
        ]


def notes_of(engine):
    with engine.jobs("memory-v1") as jobs:
        return jobs.extraction_snapshot().outputs


@pytest.mark.parametrize(("wire", "stream"), [("responses", "stream = true"), ("chat", ""), ("messages", "")])
def test_sessions_become_notes_and_a_second_pass_asks_nothing(
    wire, stream, serve, config_of, codex_home, extract, engine_of
):
    for _ in range(2):
        codex_home(ASKED)
    server = serve(wire, {"json": NOTE}, {"json": NOTE})
    config = config_of(server, wire, stream)
    report = extract(config)
    assert report.sessions["extracted"] == 2
    assert len(server.requests) == 2
    assert all("move the crane" in asked.raw for asked in server.requests)
    extract(config)
    assert len(server.requests) == 2
    assert notes_of(engine_of(config)) == 2


def test_a_whole_run_takes_notes_and_lets_the_agent_write_the_memory(wire, serve, config_of, codex_home, engine_of):
    codex_home(ASKED)
    files = [
        {"name": "write", "args": {"path": "MEMORY.md", "content": "# Memory\n\nThe crane stands.\n"}},
        {"name": "write", "args": {"path": "memory_summary.md", "content": "v1\n\n## User Profile\n\nHarbor work.\n"}},
    ]
    server = serve(wire, {"json": NOTE}, {"tools": files}, {"text": "Done."})
    engine = engine_of(config_of(server, wire))
    report = run(engine, RunRequest(idle_hours=0.0))
    assert report.memories["v1"].status == "succeeded", report
    assert len(server.requests) == 3
    with open(f"{engine.memory_root('memory-v1')}/MEMORY.md", encoding="utf-8") as file:
        assert "The crane stands." in file.read()
    usage = {(row.stage, row.memory): (row.calls, row.tokens_in) for row in engine.catalogue.usage()}
    assert usage == {("extraction", "memory-v1"): (1, 100), ("consolidation", "memory-v1"): (2, 200)}


def test_a_rate_limit_costs_no_retry_stops_the_siblings_and_opens_again(
    wire, serve, config_of, codex_home, extract, engine_of, clock
):
    for _ in range(4):
        codex_home(ASKED)
    limit = {"error": 429, "message": "slow down", "headers": {"retry-after": 1800}}
    server = serve(wire, *[limit] * 2, *[{"json": NOTE}] * 4)
    config = config_of(server, wire)
    report = extract(config)
    assert report.sessions["extracted"] == 0
    assert 1 <= len(server.requests) <= 2  # as many as were on their way when the first answer came
    del server.script[: 2 - len(server.requests)]
    engine = engine_of(config)
    assert set(jobs_of(engine)) == {("pending", "capacity", 3, 1800)}
    assert status_of(engine)["memories"]["v1"]["extraction"]["failures"] == {"provider_capacity": 2}
    asked = len(server.requests)
    clock.turn(seconds=1799)
    blocked = extract(config)
    assert len(server.requests) == asked
    assert all("not asked again until" in row.reason for row in blocked.skipped)
    clock.turn(seconds=2)
    assert extract(config).sessions["extracted"] == 2
    assert extract(config).sessions["extracted"] == 2
    assert notes_of(engine_of(config)) == 4


@pytest.mark.parametrize(("wire", "status"), [("responses", 401), ("chat", 403), ("messages", 401)])
def test_refused_credentials_cost_no_retry_and_are_not_tried_again(  # noqa: PLR0917 - fixtures
    wire, status, serve, config_of, codex_home, extract, engine_of, clock
):
    for _ in range(6):
        codex_home(ASKED)
    server = serve(wire, {"error": status, "message": "who are you", "repeat": True})
    config = config_of(server, wire, other="[memories]\nmax_rollouts_per_startup = 6")
    extract(config)
    server.script, server.default = [], json.dumps(NOTE)
    asked = len(server.requests)
    assert 1 <= asked <= 6  # those on their way together
    for _ in range(3):
        clock.turn(hours=2)
        report = extract(config)
    assert len(server.requests) == asked
    assert all(f"HTTP {status}" in row.reason for row in report.skipped)
    engine = engine_of(config)
    assert {(job[0], job[1]) for job in jobs_of(engine)} <= {("pending", "released")}
    (breaker,) = status_of(engine)["breakers"]
    assert breaker["until_ms"] == 0
    assert str(status) in breaker["reason"]


def test_new_credentials_open_the_provider_at_once(serve, config_of, codex_home, extract, engine_of):
    codex_home(ASKED)
    server = serve("responses", {"error": 401}, {"json": NOTE})
    config = config_of(server, "responses")
    assert extract(config).sessions["extracted"] == 0
    assert extract(config, MODEL_KEY="another").sessions["extracted"] == 1
    assert status_of(engine_of(config, MODEL_KEY="another"))["breakers"] == []


def test_a_server_error_costs_a_retry_only_after_three_requests(
    wire, serve, config_of, codex_home, extract, engine_of, clock
):
    codex_home(ASKED)
    server = serve(wire, *[{"error": 500, "message": "boom"}] * 3, {"json": NOTE})
    config = config_of(server, wire)
    report = extract(config)
    assert report.sessions["failed"] == 1
    assert len(server.requests) == 3
    assert jobs_of(engine_of(config)) == [("pending", "error", 2, 3600)]
    extract(config)
    assert len(server.requests) == 3
    clock.turn(hours=1.1)
    assert extract(config).sessions["extracted"] == 1
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("wire", "step"),
    [("responses", {"html": True}), ("chat", {"html": True}), ("messages", {"html": True}),
     ("responses", {"body": '{"output": [{"ty'}), ("messages", {"json": {"rollout_summary": "half"}}),
     ("chat", {"text": "No."}), ("messages", {"json": {**NOTE, "rollout_summary": 7}})],
    ids=["page-1", "page-2", "page-3", "cut", "half", "prose", "number"],
)  # fmt: skip
def test_an_answer_that_is_none_costs_a_retry_and_is_not_asked_for_again_at_once(
    wire, step, serve, config_of, codex_home, extract, engine_of
):
    codex_home(ASKED)
    server = serve(wire, step, {"json": NOTE})
    config = config_of(server, wire)
    report = extract(config)
    assert report.sessions["failed"] == 1
    assert len(server.requests) == 1
    assert jobs_of(engine_of(config)) == [("pending", "error", 2, 3600)]
    assert extract(config).sessions["extracted"] == 0
    assert len(server.requests) == 1


def test_an_input_that_does_not_fit_is_halved_once(wire, serve, config_of, codex_home, extract):
    codex_home(*[f"Step {number}: {ASKED * 20}" for number in range(200)])
    server = serve(wire, {"error": 400, "message": "maximum context length is 9000 tokens"}, {"json": NOTE})
    assert extract(config_of(server, wire)).sessions["extracted"] == 1
    first, second = (len(asked.raw) for asked in server.requests)
    assert second < 0.6 * first


def test_an_input_that_never_fits_is_given_up_until_the_session_goes_on(
    serve, config_of, codex_home, extract, engine_of, clock
):
    session = codex_home(ASKED * 100)
    server = serve("chat", *[{"error": 400, "message": "context_length_exceeded"}] * 2, {"json": NOTE})
    config = config_of(server, "chat")
    report = extract(config)
    assert report.sessions["failed"] == 1
    assert len(server.requests) == 2
    assert jobs_of(engine_of(config)) == [("failed", "error", 0, 3600)]
    (error,) = status_of(engine_of(config))["memories"]["v1"]["extraction"]["recent_errors"]
    assert "context_length_exceeded" in error["error"]
    for _ in range(3):
        clock.turn(hours=5)
        extract(config)
    assert len(server.requests) == 2
    later = codex_home.root / "sessions" / "2026" / "11" / "29"
    (rollout,) = later.iterdir()
    lines = rollout.read_text().replace("2026-11-29T09:00", "2026-11-30T09:00")
    rollout.write_text(lines + lines.splitlines()[-1] + "\n")
    assert extract(config).sessions["extracted"] == 1
    assert session in rollout.name


def test_a_spent_budget_claims_nothing_and_the_next_day_goes_on(
    serve, config_of, codex_home, extract, engine_of, clock
):
    for _ in range(3):
        codex_home(ASKED)
    server = serve("messages", *[{"json": NOTE}] * 3)
    config = config_of(server, "messages", other="[budget]\ncalls_per_day = 2")
    assert extract(config).sessions["extracted"] == 2
    report = extract(config)
    assert len(server.requests) == 2
    assert any("2 of 2 calls" in row.reason for row in report.skipped)
    assert jobs_of(engine_of(config)) == []
    clock.turn(hours=13)
    assert extract(config).sessions["extracted"] == 1


def test_a_budget_that_ends_within_a_pass_gives_the_rest_back_unharmed(
    serve, config_of, codex_home, extract, engine_of
):
    for _ in range(2):
        codex_home(ASKED)
    server = serve("chat", *[{"json": NOTE}] * 2)
    config = config_of(server, "chat", other="[budget]\ncalls_per_day = 1")
    assert extract(config).sessions["extracted"] == 1
    assert len(server.requests) == 1
    assert jobs_of(engine_of(config)) == [("pending", "released", 3, 0)]


def test_a_server_that_is_down_costs_few_requests_however_many_sessions_wait(serve, config_of, codex_home, engine_of):
    sessions = [codex_home(ASKED) for _ in range(12)]
    server = serve("chat", {"reset": True, "repeat": True})
    engine = engine_of(config_of(server, "chat"))
    report = run(engine, RunRequest(sessions=tuple(sessions), consolidate=False))
    assert report.sessions["extracted"] == 0
    # Eight sessions are on their way when the third goes unanswered, each with its three requests; the other four never
    # leave.
    assert len(server.requests) <= 24
    assert {job[2] for job in jobs_of(engine)} <= {2, 3}


def test_explicit_choices_have_no_count_limit_with_a_model_that_costs(serve, config_of, codex_home, engine_of):
    sessions = [codex_home(ASKED) for _ in range(5)]
    server = serve("chat", {"json": NOTE, "repeat": True})
    report = run(engine_of(config_of(server, "chat")), RunRequest(sessions=tuple(sessions), consolidate=False))
    assert report.sessions["extracted"] == 5


def test_nobody_pays_for_the_consolidation_of_nothing(serve, config_of, codex_home, engine_of):
    codex_home(ASKED)
    server = serve("chat", {"text": "I cannot do that.", "repeat": True})
    report = run(engine_of(config_of(server, "chat")), RunRequest(idle_hours=0.0, now=True))
    assert report.memories["v1"].failed == 1
    assert report.memories["v1"].consolidation == "skipped_nothing_yet"
    assert report.failed
    assert len(server.requests) == 1


def test_refused_credentials_fail_the_run(serve, config_of, codex_home, engine_of):
    codex_home(ASKED)
    server = serve("chat", {"error": 401, "repeat": True})
    report = run(engine_of(config_of(server, "chat")), RunRequest(idle_hours=0.0, now=True))
    assert report.memories["v1"].status == "failed"
    assert report.failed


def test_no_request_contains_a_secret_that_a_session_or_a_model_has_said(wire, serve, config_of, codex_home, engine_of):
    secret = "ghp_" + "Zz9Yy8Xx7Ww6" * 3
    password = "correct-Horse-7-battery"
    codex_home(f"Use {secret} and DATABASE_PASSWORD={password} to move the crane <private>by night</private>.")
    call = {"name": "write", "args": {"path": "MEMORY.md", "content": f"# Memory\n\ntoken {secret}\n"}}
    note = {**NOTE, "raw_memory": f"the token is {secret}"}
    server = serve(wire, {"json": note}, {"text": f"I noted {secret}", "tool": call}, {"text": "Done."})
    run(engine_of(config_of(server, wire)), RunRequest(idle_hours=0.0))
    assert len(server.requests) == 3
    for planted in (secret, password, "by night"):
        assert all(planted not in asked.raw for asked in server.requests)


def test_a_loop_that_never_ends_is_ended_after_forty_turns(serve, config_of, codex_home, engine_of):
    codex_home(ASKED)
    grep = [{"tool": {"name": "grep", "args": {"pattern": f"nothing {number}"}}} for number in range(60)]
    server = serve("responses", {"json": NOTE}, *grep)
    engine = engine_of(config_of(server, "responses"))
    report = run(engine, RunRequest(idle_hours=0.0))
    assert len(server.requests) == 41
    assert report.memories["v1"].status.startswith("failed")
