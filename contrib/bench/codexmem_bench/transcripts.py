"""Reading transcripts, as a pass does it, against msgspec's untyped decode of the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.values.capture import Item, SessionQuery

from codexmem_bench.corpora import Corpus, write_sessions
from codexmem_bench.engines import HOST, engine_over
from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.timing import in_pairs
from codexmem_core.services.transcripts import TranscriptCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from codexmem_hookspecs.values.capture import Session

    from codexmem_bench.bench import Bench
    from codexmem_core.engine import Engine

PARSED = Figure(
    key="transcripts-parse", what="parse and normalise, to untyped decode of the lines", limit=1.5, unit=TIMES
)
REDACTED = Figure(key="transcripts-redact", what="the same with redaction and the cache", limit=6.0, unit=TIMES)
SECRETS = Figure(key="transcripts-secrets", what="planted secrets left after that", limit=0)
KILOBYTES = 110


def corpus(bench: Bench) -> Corpus:
    """Many rollouts of ordinary length."""
    return bench.once(
        "transcripts",
        lambda folder: write_sessions(folder, count=bench.sizes.sessions, kilobytes=KILOBYTES, seed=bench.seed),
    )


class Reading:
    """The sessions of one corpus, and the ways to read them."""

    def __init__(self, bench: Bench) -> None:
        self.corpus = corpus(bench)
        home = bench.scratch / "transcripts-home"
        self.engine: Engine = engine_over(self.corpus.home, home)
        self._cache_folder = str(home / "cache")
        self.sessions: list[Session] = self.engine.stages.sessions(HOST, SessionQuery())
        if len(self.sessions) != len(self.corpus.files):
            raise RuntimeError(f"{len(self.sessions)} of {len(self.corpus.files)} sessions found")

    def decoded(self) -> int:
        """The yardstick: every line as untyped values."""
        return sum(decoded_lines(path) for path in self.corpus.files)

    def parsed(self) -> int:
        """Raw items, through the host's hook and the path guard."""
        transcript = self.engine.stages.transcript
        return sum(isinstance(item, Item) for session in self.sessions for item in transcript(session, 0))

    def redacted(self, look: Callable[[Iterable[Item]], object] = lambda items: None) -> None:
        """Through a pass's cache; ``look`` is given each transcript."""
        own_text = self.engine.hosts[HOST].own_text
        cache = TranscriptCache(
            self.engine.stages.transcript, lambda _session, item: own_text(item), self._cache_folder
        )
        for session in self.sessions:
            look(cache.open(session))
        cache.close()

    def planted_in(self, text: str) -> int:
        """How many planted secrets stand in a text."""
        return sum(secret in text for secret in self.corpus.secrets)


def decoded_lines(path: Path) -> int:
    """Decode every line that is JSON; how many there are."""
    decode, lines = msgspec.json.Decoder().decode, 0
    with path.open("rb") as file:
        for line in file:
            try:
                decode(line)
            except msgspec.DecodeError:
                continue
            lines += 1
    return lines


def measure(bench: Bench) -> dict[str, Value]:
    """Both ratios, and what redaction let through."""
    reading = Reading(bench)
    rounds = bench.sizes.rounds
    parsed = in_pairs(reading.parsed, reading.decoded, rounds=rounds)
    redacted = in_pairs(reading.redacted, reading.decoded, rounds=rounds)
    before: list[str] = []
    after: list[str] = []
    for session in reading.sessions:
        raw = reading.engine.stages.transcript(session, 0)
        before += [item.text for item in raw if isinstance(item, Item)]
    reading.redacted(lambda items: after.extend(item.text for item in items))
    planted, left = reading.planted_in("\n".join(before)), reading.planted_in("\n".join(after))
    reading.engine.close()
    if not planted:
        raise RuntimeError("no planted secret is in the text that is kept: nothing would be proved")
    return {
        PARSED.key: Value(number=parsed.ratio, detail=f"{parsed.detail}, {reading.corpus.size_bytes / 1e6:.1f} MB"),
        REDACTED.key: Value(number=redacted.ratio, detail=redacted.detail),
        SECRETS.key: Value(number=left, detail=f"of {planted} in {len(after)} items"),
    }


MEASUREMENT = Measurement(figures=(PARSED, REDACTED, SECRETS), measure=measure)
