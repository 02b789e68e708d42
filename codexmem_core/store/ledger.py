"""What models cost, and which of them must not be called now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codexmem_core.store.part import StorePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens of one day, stage, memory and model."""

    day: str
    """``YYYY-MM-DD``, in the calendar that the caller counts days by."""
    stage: str
    memory: str
    model: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Why nothing in this scope is called."""

    scope: str
    """``model:<name>`` or ``provider:<name>``."""
    until_ms: int
    """UNIX milliseconds; 0 until the credentials change."""
    reason: str
    fingerprint: str = ""
    """Digest of the credentials that were refused."""


class Ledger(StorePart):
    """The part of the catalogue about models."""

    def reserve_call(
        self,
        usage: Usage,
        *,
        max_calls: int,
        max_tokens: int,
        own_calls: int | None = None,
        own_tokens: int | None = None,
    ) -> bool:
        """Count a call before it is made, unless the day's budget over all stages and models is spent.

        ``own_calls`` and ``own_tokens`` bind what is counted under the same memory; None: only the whole is bound.

        One transaction, so that workers of several processes cannot overspend together. ``usage.tokens_in`` is what the
        call will send, about; it counts at once, and ``spend`` puts it right afterwards (its counts may be negative).
        """
        with self._database.transaction("budget"):
            for memory, most_calls, most_tokens in (
                ("", max_calls, max_tokens),
                (usage.memory, own_calls, own_tokens),
            ):
                if most_calls is None or most_tokens is None:
                    continue
                calls, tokens = self._database.execute(
                    "SELECT coalesce(sum(calls), 0), coalesce(sum(tokens_in + tokens_out), 0) FROM usage_ledger"
                    " WHERE day = ?1 AND ?2 IN ('', memory)",
                    (usage.day, memory),
                ).fetchone()
                if calls >= most_calls or tokens >= most_tokens or tokens + usage.tokens_in > most_tokens:
                    return False
            self._add(usage, calls=1, tokens_in=usage.tokens_in, tokens_out=0)
            return True

    def spend(self, usage: Usage) -> None:
        """Add the calls and tokens to the day."""
        with self._database.transaction("ledger"):
            self._add(usage, calls=usage.calls, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)

    def usage(self, day: str = "") -> list[Usage]:
        """One day's usage, or everyone's, newest day first."""
        query = "SELECT day, stage, memory, model, calls, tokens_in, tokens_out FROM usage_ledger WHERE ? IN ('', day)"
        with self._database.unit():
            rows = self._database.execute(query + " ORDER BY day DESC, stage, memory, model", (day,)).fetchall()
        return [
            Usage(
                day=row[0], stage=row[1], memory=row[2], model=row[3], calls=row[4], tokens_in=row[5], tokens_out=row[6]
            )
            for row in rows
        ]

    def trip(self, breaker: Breaker) -> None:
        """Stop calls in a scope. Of two ends in time the later stands; a refusal of credentials replaces both."""
        with self._database.transaction("breaker"):
            self._database.execute(
                "INSERT INTO breaker (scope, until_ms, reason, fingerprint) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (scope) DO UPDATE SET reason = excluded.reason, fingerprint = excluded.fingerprint,"
                " until_ms = CASE WHEN excluded.until_ms = 0 THEN 0 ELSE max(breaker.until_ms, excluded.until_ms) END",
                (breaker.scope, breaker.until_ms, breaker.reason, breaker.fingerprint),
            )

    def tripped(self, scope: str, fingerprint: str = "") -> Breaker | None:
        """The breaker that forbids a call now with these credentials, or None."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT scope, until_ms, reason, fingerprint FROM breaker WHERE scope = ?"
                " AND (until_ms > ? OR (until_ms = 0 AND fingerprint = ?))",
                (scope, self._clock.now_ms(), fingerprint),
            ).fetchone()
        return _breaker(row) if row else None

    def breakers(self) -> list[Breaker]:
        """All that have not run out, by scope."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT scope, until_ms, reason, fingerprint FROM breaker WHERE until_ms = 0 OR until_ms > ?"
                " ORDER BY scope",
                (self._clock.now_ms(),),
            ).fetchall()
        return [_breaker(row) for row in rows]

    def reset_breaker(self, scope: str) -> None:
        """Allow calls again."""
        with self._database.transaction("breaker"):
            self._database.execute("DELETE FROM breaker WHERE scope = ?", (scope,))

    def purge_breakers(self) -> int:
        """Delete those that have run out; how many."""
        with self._database.transaction("breaker"):
            return self._database.execute(
                "DELETE FROM breaker WHERE until_ms <> 0 AND until_ms <= ?", (self._clock.now_ms(),)
            ).rowcount

    def _add(self, usage: Usage, *, calls: int, tokens_in: int, tokens_out: int) -> None:
        self._database.execute(
            "INSERT INTO usage_ledger (day, stage, memory, model, calls, tokens_in, tokens_out)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
            " tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out",
            (usage.day, usage.stage, usage.memory, usage.model, calls, tokens_in, tokens_out),
        )


def _breaker(row: tuple[Any, ...]) -> Breaker:
    return Breaker(scope=row[0], until_ms=row[1], reason=row[2], fingerprint=row[3])
