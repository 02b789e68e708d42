"""Bodies of searches: what a prompt asks of the server, as OpenViking's coding agents ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_ov_commit.settings import Settings

CODING: Final = {"events": 1, "entities": 2, "preferences": 1, "experiences": 1, "resources": 3, "skills": 2}
"""Shares of a recall by kind (server 0.5.2: quotas of the purpose ``coding``)."""
OLDER: Final = {"events": 10, "entities": 10, "preferences": 3}
"""Shares of a recall of a server that assembles no context."""
CHARACTERS_A_TOKEN: Final = 4
LEAST_CHARACTERS: Final = 1_000
SERVER_TOKENS: Final = 1_600
"""Of a recall that names no number (server 0.5.2)."""
MANY: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked in front of a prompt."""

    text: str
    session: str = ""
    """The session's name on the server; empty when it is not known."""
    limit: int = 10
    limit_is_set: bool = False
    """What nobody set is left to the server."""
    threshold: float = 0.35
    max_tokens: int = 0
    peer_scope: str = "all"
    dedup_turns: int = 5
    expansion: str = ""

    @classmethod
    def of(cls, text: str, session: str, settings: Settings) -> Query:
        """As the user set it."""
        return cls(
            text=text,
            session=session,
            limit=settings.number("recall_limit"),
            limit_is_set=settings.origins["recall_limit"] != "default",
            threshold=settings.decimal("score_threshold"),
            max_tokens=settings.number("recall_max_tokens"),
            peer_scope=settings.text("recall_peer_scope"),
            dedup_turns=settings.number("recall_dedup_turns"),
            expansion=settings.text("recall_query_expansion"),
        )

    def context(self) -> dict[str, object]:
        """For a server that puts a context together; it looks into the session to know what is meant."""
        body: dict[str, object] = {
            "query": self.text,
            "mode": "context",
            "purpose": "coding",
            "score_threshold": self.threshold,
        }
        if self.limit_is_set:
            body["quotas"] = shared(CODING, self.limit)
        if self.max_tokens:
            body["max_tokens"] = self.max_tokens
        if self.peer_scope != "all":
            body["peer_scope"] = self.peer_scope
        if self.session:
            body["session_id"] = self.session
            if self.dedup_turns:
                body["dedup_turns"] = self.dedup_turns
        if self.expansion:
            body["query_expansion"] = self.expansion
        return body

    def recall(self) -> dict[str, object]:
        """For one that only recalls."""
        characters = CHARACTERS_A_TOKEN * (self.max_tokens or SERVER_TOKENS)
        body: dict[str, object] = {
            "query": self.text,
            "quotas": {**shared(OLDER, self.limit), "experiences": 0},
            "max_chars": max(LEAST_CHARACTERS, characters),
            "min_score": self.threshold,
            "render": True,
        }
        return {**body, "peer_scope": self.peer_scope} if self.peer_scope != "all" else body

    def search(self, target: str, *, in_session: bool) -> dict[str, object]:
        """For one that only searches: more than is wanted, because it is ranked here."""
        body: dict[str, object] = {
            "query": self.text,
            "target_uri": target,
            "limit": max(4 * self.limit, MANY),
            "score_threshold": 0,
        }
        return {**body, "session_id": self.session} if in_session and self.session else body


def shared(shares: Mapping[str, int], limit: int) -> dict[str, int]:
    """A number by shares, at least one each; what is left over goes where most is missing."""
    whole = sum(shares.values())
    given = {kind: max(1, limit * share // whole) for kind, share in shares.items()}
    while sum(given.values()) < limit:
        most = max(given, key=lambda kind: limit * shares[kind] / whole - given[kind])
        given[most] += 1
    return given
