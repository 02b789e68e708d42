"""OpenCode's models as a backend: a question is a session of ours in which the model can do nothing but answer.

In OpenCode 2 it is one prompt and makes no session at all.

It uses the login that OpenCode has. The tools of a consolidation run in our own process; a turn is one structured
action.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.cuts import CHARACTERS_A_TOKEN
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.json_lines import NotUnderstood
from codexmem_hookspecs.models import actions
from codexmem_hookspecs.models.refusal_kinds import kind_of, told_kind
from codexmem_hookspecs.models.structured import object_in, problems
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import Usage

from codexmem_host_opencode import records
from codexmem_host_opencode.choosing import chosen, variant
from codexmem_host_opencode.endpoint import OK, session_path
from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.own_sessions import LIST_S, own_session, stopped, sweep
from codexmem_host_opencode.reach import Reach
from codexmem_host_opencode.second.generating import generated, one_prompt, reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.errors import RefusalKind
    from codexmem_hookspecs.services import Response, Services, Transcript
    from codexmem_hookspecs.values.extract import Effort, ExtractionRequest
    from codexmem_hookspecs.values.models import Turn, TurnRequest

    from codexmem_host_opencode.server import Server

NAME = "opencode"
PROMPT_S = 3600.0
"""Longest answer; the deadline of the job is shorter."""
TIDYING_S = 15.0
"""Left of the deadline when a prompt is given up, to remove its session."""
ACTION: Mapping[str, object] = {
    "type": "object",
    "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}, "done": {"type": "boolean"}},
    "additionalProperties": False,
}
NO_OBJECT = "StructuredOutputError"
"""The model answered in text; that may hold the object all the same."""
KINDS: Mapping[str, RefusalKind] = {
    "ContextOverflowError": "overflow",
    "ProviderAuthError": "credentials",
    "MessageOutputLengthError": "invalid",
    "StructuredOutputError": "invalid",
    "MessageAbortedError": "transport",
}
LONGEST_RETRY_S = 86_400.0


class Question(NamedTuple):
    """What is asked."""

    stage: str
    system: str
    text: str
    schema: Mapping[str, object]
    effort: Effort
    model: str


class Answer(NamedTuple):
    """What was said: an object where the model gave one, else its words."""

    data: Mapping[str, object] | None
    text: str
    usage: Usage


def ask(request: ExtractionRequest, _transcript: Transcript, services: Services) -> Reply:
    """One question with a JSON answer. Raises ModelRefused."""
    question = Question(
        "extraction", request.instructions, request.input, request.schema, request.effort, request.model
    )
    answer = answered(question, services)
    try:
        data = answer.data if answer.data is not None else object_in(answer.text)
        if wrong := problems(data, request.schema):
            raise ValueError("; ".join(wrong))
    except ValueError as error:
        raise ModelRefused(f"{NAME}: {error}", "invalid", usage=answer.usage) from None
    return Reply(data=data, tokens_in=answer.usage.tokens_in, tokens_out=answer.usage.tokens_out)


def turn(request: TurnRequest, services: Services) -> Turn:
    """The next turn, as one action. Raises ModelRefused."""
    system, said = actions.instructions(request), actions.conversation(request.messages)
    answer = answered(Question("consolidation", system, said, ACTION, request.effort, request.model), services)
    text = answer.text if answer.data is None else json.dumps(answer.data, ensure_ascii=False)
    return actions.turn(text, request.messages, answer.usage)


def answered(question: Question, services: Services) -> Answer:
    """By OpenCode 2 where that was last at work, else by OpenCode 1. Raises ModelRefused."""
    reach = Reach(services)
    if reach.prefers_second and (reach.seconds or not reach.seen):
        return _by_second(question, reach, services)
    return _by_first(question, reach.asked, services)


def _by_second(question: Question, reach: Reach, services: Services) -> Answer:
    """One prompt."""
    if not reach.seconds:
        raise ModelRefused(f"opencode: OpenCode 2 is unavailable: {reach.no_service}", "transport")
    recorded = question.stage == "extraction"
    prompt = one_prompt(question.system, question.text, question.schema, is_recorded=recorded)
    model = reference(reach.seconds[0], question.stage, question.model, question.effort)
    text = generated(prompt, model, reach.seconds, min(PROMPT_S, max(1.0, services.deadline.left_s)))
    estimated = Usage(tokens_in=len(prompt) // CHARACTERS_A_TOKEN, tokens_out=len(text) // CHARACTERS_A_TOKEN)
    return Answer(None, text, estimated)


def _by_first(question: Question, server: Server, services: Services) -> Answer:
    """One prompt in a session of its own."""
    _tidy(server, services)
    body: dict[str, object] = {
        "system": question.system,
        "format": {"type": "json_schema", "schema": question.schema},
        "parts": [{"type": "text", "text": question.text}],
    }
    model = chosen(server, question.stage, question.model)
    if model is not None:
        body["model"] = model.body
    if level := variant(server, model, question.effort):
        body["variant"] = level
    who = f"{NAME} {model.provider}/{model.model}" if model is not None else NAME
    with own_session(server, question.stage, services) as session_id:
        timeout_s = min(PROMPT_S, max(1.0, services.deadline.left_s - TIDYING_S))
        response = server.ask("POST", f"{session_path(session_id)}/message", body, timeout_s=timeout_s)
        if not response.status:
            stopped(server, session_id)
        return understood(response, who, _spent(server, session_id))


def understood(response: Response, who: str, usage: Usage) -> Answer:
    """What a prompt came to. Raises ModelRefused."""
    if response.status != OK:
        detail = response.error or f"HTTP {response.status}: {str(response.body)[:300]}"
        kind = kind_of(response.status, detail, waits=False) if response.status else "transport"
        raise ModelRefused(f"{who}: {detail}", kind, usage=usage)
    try:
        message = records.understood(response.body, records.Prompted)
    except NotUnderstood as problem:
        raise ModelRefused(f"{who}: {problem}", "invalid", usage=usage) from None
    text = "\n".join(part.text or "" for part in message.parts if part.type == "text").strip()
    error = message.info.error
    if error is not None and not (error.name == NO_OBJECT and text):
        raise _refusal(error, who, usage)
    return Answer(message.info.structured, text, usage)


def _refusal(error: records.PromptError, who: str, usage: Usage) -> ModelRefused:
    data = error.data
    detail = f"{error.name}: {data.message}".strip(": ")
    kind = KINDS.get(error.name)
    if kind is None:
        kind = kind_of(data.statusCode, detail, waits=False) if data.statusCode else told_kind(detail) or "transport"
    waits = data.responseHeaders.get("retry-after", "") if kind == "capacity" else ""
    wait_s = min(float(waits), LONGEST_RETRY_S) if waits.isdigit() else 0.0
    return ModelRefused(f"{who}: {detail}", kind, wait_s, usage)


def _spent(server: Server, session_id: str) -> Usage:
    """Of all steps of the session; its last message tells only of the last."""
    try:
        tokens = records.understood(server.get(session_path(session_id), LIST_S).body, records.Spent).tokens
    except NotUnderstood:
        return Usage()
    return Usage(
        tokens_in=int(tokens.input + tokens.cache.read + tokens.cache.write),
        tokens_out=int(tokens.output + tokens.reasoning),
    )


def _tidy(server: Server, services: Services) -> None:
    try:
        sweep(server, list(server.sessions(OWN_TITLE, LIST_S)), services)
    except NotUnderstood as problem:
        services.log.info("OpenCode does not list what was left behind", reason=str(problem))
