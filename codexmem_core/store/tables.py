"""Table classes, made anew for each database.

One class bound to two files in turn wrote rows of one memory into the other's file, so a class belongs to one database
for ever and ``bind_ctx`` is not used.

Units: in ``memory_jobs`` started_at, finished_at, succeeded_at, lease_until and retry_at are UNIX seconds. Everything
else that ends in ``_at`` or ``_ms``, last_usage, retained_from and the watermarks are UNIX milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from peewee import BlobField, CompositeKey, Database, IntegerField, Model, TextField

CATALOGUE_SALVAGED = (
    "memory_session_meta",
    "memory_session_versions",
    "own_sessions",
    "forget_pending",
    "forgotten_sessions",
    "forgotten_texts",
)
"""What the user asked for, and our own sessions: worth saving from a damaged file, and true row by row."""

MEMORY_SALVAGED = ("memory_stage1_outputs", "memory_findings", "memory_citation_usage")
"""Notes, which nothing else holds once their transcripts are gone. Jobs are begun anew, so that the consolidation knows
that it has not succeeded with this file."""


Tables = TypeVar("Tables", bound=Iterable[Any])


class MemoryTables(NamedTuple):
    """Tables of one memory's database."""

    outputs: Any
    findings: Any
    jobs: Any
    progress: Any
    citations: Any


class CatalogueTables(NamedTuple):
    """Tables of the catalogue."""

    sessions: Any
    locators: Any
    ends: Any
    meta: Any
    versions: Any
    processes: Any
    given: Any
    own: Any
    events: Any
    deliveries: Any
    events_seen: Any
    forget_pending: Any
    forgotten_sessions: Any
    forgotten_texts: Any
    ledger: Any
    breaker: Any
    marks: Any
    notices: Any


def memory_tables(database: Database) -> MemoryTables:
    """Classes for a memory's database."""

    class Output(Model):
        """What one session gave (stage 1)."""

        host, session_id, locator = TextField(), TextField(), TextField(default="")
        source_updated_at = IntegerField()
        raw_memory, rollout_summary, rollout_slug = TextField(), TextField(), TextField(null=True)
        cwd, extra = TextField(null=True), TextField(default="{}")
        generated_at, retained_from = IntegerField(), IntegerField(default=0)
        usage_count, last_usage = IntegerField(default=0), IntegerField(null=True)
        selected_for_phase2 = IntegerField(default=0)
        selected_for_phase2_source_updated_at = IntegerField(null=True)

        class Meta:
            table_name, primary_key = "memory_stage1_outputs", CompositeKey("host", "session_id")

    class Findings(Model):
        """What the built-in backend found, beside the output; JSON."""

        host, session_id = TextField(), TextField()
        source_updated_at, findings = IntegerField(), BlobField()

        class Meta:
            table_name, primary_key = "memory_findings", CompositeKey("host", "session_id")

    class Job(Model):
        """An extraction (``memory_stage1``, key ``<host>:<session id>``) or the consolidation (key ``global``)."""

        kind, job_key, status = TextField(), TextField(), TextField()
        worker_id, ownership_token = TextField(null=True), TextField(null=True)
        started_at, finished_at, succeeded_at = (IntegerField(null=True) for _ in range(3))
        lease_until, retry_at, retry_remaining = IntegerField(null=True), IntegerField(null=True), IntegerField()
        last_error, failure = TextField(null=True), TextField(null=True)
        input_watermark, last_success_watermark = IntegerField(null=True), IntegerField(null=True)

        class Meta:
            table_name, primary_key = "memory_jobs", CompositeKey("kind", "job_key")

    class Progress(Model):
        """The most sessions that one consolidation covered."""

        singleton, max_thread_count = IntegerField(primary_key=True), IntegerField(default=0)

        class Meta:
            table_name = "consolidation_progress"

    class Citation(Model):
        """A citation that was counted, so that it is counted once."""

        host, session_id, assistant_message_id = TextField(), TextField(), TextField()
        cited_host, cited_session_id, recorded_at = TextField(), TextField(), IntegerField()

        class Meta:
            table_name = "memory_citation_usage"
            primary_key = CompositeKey("host", "session_id", "assistant_message_id", "cited_host", "cited_session_id")

    return _bound(MemoryTables(Output, Findings, Job, Progress, Citation), database)


def catalogue_tables(database: Database) -> CatalogueTables:
    """Classes for the catalogue."""

    class Known(Model):
        """A session, as its host's best store of it tells."""

        host, id, locator, cwd = TextField(), TextField(), TextField(), TextField(default="")
        updated_at_ms, touched_at_ms = IntegerField(), IntegerField()
        stamp, revision, kind = TextField(default=""), TextField(default=""), TextField(default="main")
        source, memory_mode, forked_from = TextField(default=""), TextField(default="enabled"), TextField(default="")
        size_bytes, first_seen_ms, present = IntegerField(default=0), IntegerField(), TextField(default="present")

        class Meta:
            table_name, primary_key = "sessions", CompositeKey("host", "id")

    class Locator(Model):
        """Every place where a session was found, also those that another place outdoes."""

        host, locator, session_id, stamp = TextField(), TextField(), TextField(), TextField()

        class Meta:
            table_name, primary_key = "session_locators", CompositeKey("host", "locator")

    class End(Model):
        """An end event, seen before or after the session itself."""

        host, session_id, ended_at_ms = TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "session_ends", CompositeKey("host", "session_id")

    class Meta_(Model):  # noqa: N801 - Meta is peewee's own word
        """What the user or a guard said about remembering a session."""

        host, session_id, memory_mode = TextField(), TextField(), TextField(default="enabled")
        polluted, updated_at = IntegerField(default=0), IntegerField()

        class Meta:
            table_name, primary_key = "memory_session_meta", CompositeKey("host", "session_id")

    class Version(Model):
        """The memory that a session reads for as long as it lives."""

        host, session_id, version, frozen_at_ms = TextField(), TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "memory_session_versions", CompositeKey("host", "session_id")

    class Process(Model):
        """The process of the host in which a session was last seen."""

        host, session_id, started = TextField(), TextField(), TextField()
        pid, seen_at_ms = IntegerField(), IntegerField()

        class Meta:
            table_name, primary_key = "session_processes", CompositeKey("host", "session_id")

    class Given(Model):
        """The context that a session was last given."""

        host, session_id, generation, given_at_ms = TextField(), TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "session_contexts", CompositeKey("host", "session_id")

    class Own(Model):
        """A session that we started ourselves."""

        host, session_id, registered_at_ms = TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "own_sessions", CompositeKey("host", "session_id")

    class Happened(Model):
        """An event, whether or not a plugin reacts to it: later ones change what an earlier one means."""

        id, host, session_id = TextField(primary_key=True), TextField(), TextField()
        kind, at_ms = TextField(), IntegerField()

        class Meta:
            table_name = "events"

    class Delivery(Model):
        """An event on its way to one plugin."""

        event_id, plugin, host, session_id = TextField(), TextField(), TextField(), TextField()
        kind, payload, state = TextField(), TextField(), TextField(default="pending")
        attempts, retry_at_ms, error = IntegerField(default=0), IntegerField(default=0), TextField(default="")
        updated_at_ms = IntegerField()

        class Meta:
            table_name, primary_key = "deliveries", CompositeKey("event_id", "plugin")

    class Seen(Model):
        """When each hook of a host last fired."""

        host, event, fired_at_ms = TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "events_seen", CompositeKey("host", "event")

    class Forgetting(Model):
        """What a plugin could not forget yet."""

        id = IntegerField(primary_key=True)
        plugin, selector, asked_at_ms = TextField(), TextField(), IntegerField()
        attempts, error = IntegerField(default=0), TextField(default="")

        class Meta:
            table_name = "forget_pending"

    class ForgottenSession(Model):
        """A session that is never learned again."""

        host, session_id, forgotten_at_ms = TextField(), TextField(), IntegerField()

        class Meta:
            table_name, primary_key = "forgotten_sessions", CompositeKey("host", "session_id")

    class ForgottenText(Model):
        """Keyed hashes of a window of words that is never learned again, and of its first word."""

        window, first = TextField(primary_key=True), TextField()
        words, forgotten_at_ms = IntegerField(), IntegerField()

        class Meta:
            table_name = "forgotten_texts"

    class Usage(Model):
        """Calls and tokens of a day."""

        day, stage, memory, model = TextField(), TextField(), TextField(), TextField()
        calls, tokens_in, tokens_out = IntegerField(default=0), IntegerField(default=0), IntegerField(default=0)

        class Meta:
            table_name, primary_key = "usage_ledger", CompositeKey("day", "stage", "memory", "model")

    class Tripped(Model):
        """A provider or model that must not be called now."""

        scope, until_ms = TextField(primary_key=True), IntegerField()
        reason, fingerprint = TextField(), TextField(default="")

        class Meta:
            table_name = "breaker"

    class Mark(Model):
        """A small thing to remember between passes."""

        key, value = TextField(primary_key=True), TextField()

        class Meta:
            table_name = "marks"

    class Notice(Model):
        """Something that the user should see."""

        source, text = TextField(), TextField()
        first_at_ms, last_at_ms, times = IntegerField(), IntegerField(), IntegerField(default=1)

        class Meta:
            table_name, primary_key = "notices", CompositeKey("source", "text")

    tables = CatalogueTables(
        sessions=Known,
        locators=Locator,
        ends=End,
        meta=Meta_,
        versions=Version,
        processes=Process,
        given=Given,
        own=Own,
        events=Happened,
        deliveries=Delivery,
        events_seen=Seen,
        forget_pending=Forgetting,
        forgotten_sessions=ForgottenSession,
        forgotten_texts=ForgottenText,
        ledger=Usage,
        breaker=Tripped,
        marks=Mark,
        notices=Notice,
    )
    return _bound(tables, database)


def _bound(tables: Tables, database: Database) -> Tables:
    for model in tables:
        model.bind(database)
    return tables
