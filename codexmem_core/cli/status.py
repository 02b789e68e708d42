"""``codexmem status``."""

from __future__ import annotations

from typing import Any

import click

from codexmem_core.cli.state import State, json_option
from codexmem_core.safety.text import shown_time


@click.command("status")
@json_option
@click.pass_obj
def command(state: State) -> None:
    """Show what waits, what failed and why, per memory."""
    from codexmem_core.status import status_of

    value = status_of(state.engine)
    state.show(value, lambda: _as_text(value))


def _as_text(value: dict[str, Any]) -> str:
    sessions = value["sessions"]
    lines = [
        f"home      {value['home']}",
        f"hosts     {', '.join(value['hosts']) or 'no host is installed: add an extra such as codex or claude'}",
        f"model     {value['model_problem'] or value['model']}",
        f"sessions  {sessions['known']} known, {sessions['eligible']} eligible",
    ]
    lines += [f"          {count} left out: {reason}" for reason, count in sessions["left_out"].items()]
    if not value["memories"]:
        lines.append("memory    none is installed: add an extra, v1 or v2")
    for name, memory in value["memories"].items():
        lines += _memory_lines(name, memory, read=name == value["reads"])
        if len(value["memories"]) > 1 and "readiness" in memory:
            lines.append(f"          {readiness_line(memory)}")
    lines += lost_lines(value)
    events = value["events"]
    for name, at_ms in events["last_fired"].items():
        lines.append(f"hook      {name}: last fired {shown_time(at_ms)}")
    if events["spooled"]:
        lines.append(f"events    {events['spooled']} wait for the next run")
    for count in events["deliveries"]:
        if count["state"] != "done":
            lines.append(f"events    {count['count']} {count['state']} for {count['plugin']}: {count['error']}")
    lines += [f"events    {one['text']} ({shown_time(one['last_at_ms'])})" for one in events["lost"]]
    lines.append(_worker_line(value["worker"]))
    lines += [_plugin_line(said) for said in value["plugins"]]
    lines += _spending(value)
    for usage in value["usage"]:
        tokens = usage["tokens_in"] + usage["tokens_out"]
        lines.append(
            f"usage     {usage['day']} {usage['memory']} {usage['stage']}, {usage['model']}:"
            f" {usage['calls']} calls, {tokens} tokens"
        )
    return "\n".join([*lines, *warning_lines(value)])


def _worker_line(worker: dict[str, Any]) -> str:
    if worker["wedged"]:
        told = f"process {worker['pid']} gives no sign of life; the next hook replaces it"
    elif worker["pid"]:
        told = f"process {worker['pid']} since {shown_time(worker['since_ms'])}"
    else:
        told = "none runs"
    if worker["last_pass_ms"]:
        told += f", last pass {shown_time(worker['last_pass_ms'])}"
    if worker["next_start_ms"]:
        told += f"; {worker['starts']} were started within an hour, none before {shown_time(worker['next_start_ms'])}"
    elif worker["starts"]:
        told += f", started {worker['starts']} of at most {worker['starts_an_hour']} times within the hour"
    return f"worker    {told}"


def _plugin_line(said: dict[str, Any]) -> str:
    fix = f" ({said['fix']})" if said["fix"] else ""
    return f"plugin    {said['check']}: {said['message']}{fix}"


def _spending(value: dict[str, Any]) -> list[str]:
    spent = value["spending"]
    lines = []
    if value["model"] != "extractive" or spent["calls"]:
        lines.append(
            f"today     {spent['calls']} of {spent['calls_per_day']} calls, {spent['tokens']} of"
            f" {spent['tokens_per_day']} tokens ({spent['day']} UTC)"
        )
    for breaker in value["breakers"]:
        until = f"until {shown_time(breaker['until_ms'])}" if breaker["until_ms"] else "until the credentials change"
        lines.append(f"stopped   {breaker['scope']} {until}: {breaker['reason']}")
    return lines


def _memory_lines(name: str, memory: dict[str, Any], *, read: bool) -> list[str]:
    lines = [f"memory    {name}{' (new sessions read it)' if read else ''}: {memory['root']}"]
    if "error" in memory:
        return [*lines, f"          {memory['error']}"]
    extraction, consolidation = memory["extraction"], memory["consolidation"]
    stalled = extraction["stalled"]
    running = extraction["by_status"].get("running", 0) - stalled
    lines.append(
        f"          {memory['notes']} notes, {memory['waiting']} sessions wait, {running} running, "
        f"{sum(extraction['failures'].values())} failed"
        + (f", {stalled} interrupted (the next run takes them up)" if stalled else "")
    )
    for error in extraction["recent_errors"]:
        retry = f", tried again after {shown_time(error['retry_at'] * 1000)}" if error["retry_at"] else ""
        lines.append(f"          {':'.join(error['key'])} {error['state'].replace('_', ' ')}{retry}: {error['error']}")
    lines.append(f"          consolidation: {_consolidation(consolidation)}")
    lines.append(
        f"          {memory['files']} files, {memory['bytes']} bytes; summary {memory['summary_bytes']} bytes"
        + ("" if memory["summary_bytes"] else " (no summary yet: new sessions are given nothing)")
    )
    return lines


def readiness_line(memory: dict[str, Any]) -> str:
    """Whether a memory has seen enough for new sessions to be switched to it, and what is missing."""
    state = memory["readiness"]
    if state["ready"]:
        return f"ready to be read: one consolidation used {state['sessions']} sessions ({state['needed']} needed)"
    return f"not ready to be read, missing: {'; '.join(state['missing'])}"


def lost_lines(value: dict[str, Any]) -> list[str]:
    """What is left of memories that are not there any more: sessions that read them, and their databases."""
    sessions = [
        f"memory    {name} is not installed: {count} sessions read it, and are given none when they go on"
        for name, count in value["not_installed"].items()
    ]
    return sessions + [f"memory    {path} is kept for a memory that is not installed" for path in value["on_disk"]]


def warning_lines(value: dict[str, Any]) -> list[str]:
    """What the user should see, whatever else is shown."""
    return [f"warning: {warning}" for warning in value["warnings"]]


def _consolidation(snapshot: dict[str, Any]) -> str:
    success, attempt = snapshot["success"], snapshot["attempt"]
    last = f"last success {shown_time(success['finished_at'] * 1000)}" if success else "no success yet"
    if attempt is None:
        return f"{last}, the first is queued" if snapshot["status"] == "pending" else last
    outcome = "interrupted (the next run takes it up)" if attempt["outcome"] == "stalled" else attempt["outcome"]
    told = f"last attempt {shown_time(attempt['started_at'] * 1000)} {outcome}"
    if attempt["error"]:
        told += f": {attempt['error']}"
    queued = ", another is queued" if snapshot["status"] == "pending" else ""
    return f"{told}, {last}{queued}"
