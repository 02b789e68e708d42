"""What the commands that work through sessions share: their options, the progress bar, and the report."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_core.cli.state import State
    from codexmem_core.pipeline import Progress
    from codexmem_core.report import MemoryReport, RunReport

F = TypeVar("F", bound="Callable[..., object]")

SHOWN_REASONS = 8


class Moment(click.ParamType[int]):
    """A date, or a time span such as ``3d`` or ``12h`` before now; UNIX milliseconds."""

    name = "DATE|SPAN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fail with the accepted forms."""
        text = str(value)
        try:
            if text[-1:] in ("d", "h") and text[:-1].isdigit():
                span = timedelta(days=int(text[:-1])) if text.endswith("d") else timedelta(hours=int(text[:-1]))
                moment = datetime.now(UTC) - span
            else:
                parsed = datetime.fromisoformat(text)
                moment = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail(f"{text!r} is no date (2026-11-30, 2026-11-30T12:00) and no span (3d, 12h)", param, ctx)
        return int(moment.timestamp() * 1000)


_SESSION_OPTIONS = (
    click.option("--host", default="", metavar="NAME", help="Only sessions of this host."),
    click.option(
        "--session", "sessions", multiple=True, metavar="ID", help="This session, whatever its age. Repeatable."
    ),
    click.option(
        "--sessions",
        "folder",
        default=None,
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, resolve_path=True),
        help="Read the transcripts in this folder instead of the hosts' own places.",
    ),
    click.option("--since", "since_ms", type=Moment(), default="1970-01-01", show_default=False, help="Active since."),
    click.option("--limit", type=click.IntRange(min=1), default=None, help="At most so many sessions a memory."),
    click.option("--all", "all_ages", is_flag=True, help="Sessions of any age."),
    click.option(
        "--idle-hours", type=click.FloatRange(0, 48), default=None, help="Hours without activity; 0: at once."
    ),
)

now_option = click.option(
    "--now", is_flag=True, help="Wait neither for the cooldown of models that cost nor after a failure."
)
memory_option = click.option(
    "--memory", default="", metavar="NAME", help="Of this memory; without: of the one that new sessions read."
)
only_memory_option = click.option(
    "--memory", default="", metavar="NAME", help="Only this memory; without: all of them."
)


def session_options(function: F) -> F:
    """Which sessions are read, and how many."""
    for option in reversed(_SESSION_OPTIONS):
        function = option(function)
    return function


def run_and_show(state: State, **options: Any) -> None:
    """Run the pipeline as asked, and show what came of it. Exits with 1 when something failed."""
    from codexmem_core.pipeline import run
    from codexmem_core.request import RunRequest

    # What was not given has the request's own default.
    request = RunRequest(**{name: value for name, value in options.items() if value is not None})
    report = run(state.engine, request, _progress(state))
    state.show(_as_json(report), lambda: _as_text(report, verbose=state.verbose > 0, sessions=request.extract))
    if report.failed:
        raise click.exceptions.Exit(1)


def _progress(state: State) -> Any:
    if state.as_json or not sys.stderr.isatty():
        return lambda _progress: None

    def show(progress: Progress) -> None:
        width = 30
        filled = width * progress.done // max(1, progress.total)
        bar = "#" * filled + "-" * (width - filled)
        click.echo(f"\r[{bar}] {progress.done}/{progress.total} sessions ", nl=False, err=True)
        if progress.done >= progress.total:
            click.echo("\r" + " " * (width + 40) + "\r", nl=False, err=True)

    return show


def _as_json(report: RunReport) -> dict[str, Any]:
    value = asdict(report)
    value["skipped"] = [asdict(row) for row in report.skipped]
    value["warnings"] = list(report.warnings)
    value["errors"] = list(report.errors)
    return value


def _as_text(report: RunReport, *, verbose: bool, sessions: bool) -> str:
    counts = report.sessions
    lines = [f"{counts['discovered']} sessions found, {counts['eligible']} eligible"] if sessions else []
    lines += [_memory_line(name, memory) for name, memory in report.memories.items()]
    if not report.memories and not report.errors:
        lines.append("no memory is installed: install an extra, v1 or v2")
    shown = sorted(_left_out(report).items(), key=lambda pair: -len(pair[1]))
    for reason, left_out in shown if verbose else shown[:SHOWN_REASONS]:
        lines.append(f"  left out: {len(left_out)} — {reason}")
        lines += [f"    {session}" for session in left_out] if verbose else []
    lines += [f"warning: {warning}" for warning in report.warnings]
    lines += [f"error: {error}" for error in report.errors]
    return "\n".join(lines)


def _left_out(report: RunReport) -> dict[str, list[str]]:
    """Reason → sessions, each once; a reason that not every memory has names those that do."""
    memories: dict[tuple[str, str], list[str]] = {}
    for row in report.skipped:
        if row.reason != "up to date" and row.session:
            memories.setdefault((row.reason, row.session), []).append(row.memory)
    reasons: dict[str, list[str]] = {}
    for (reason, session), those in memories.items():
        everywhere = "" in those or len(those) == len(report.memories)
        reasons.setdefault(reason if everywhere else f"{reason} ({', '.join(those)})", []).append(session)
    return reasons


def _memory_line(name: str, memory: MemoryReport) -> str:
    if memory.status == "up_to_date":
        return f"{name}: up to date"
    counts = f"{memory.extracted} extracted, {memory.empty} empty, {memory.failed} failed"
    detail = f" ({memory.detail})" if memory.detail else ""
    return f"{name}: {memory.status.replace('_', ' ')}{detail}; {counts}"
