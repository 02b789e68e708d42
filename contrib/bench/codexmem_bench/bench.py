"""One run of the benchmarks: its scratch folder, its sizes, and what it has made so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured."""

    rounds: int
    """Pairs of product and yardstick within this process."""
    process_rounds: int
    """Pairs of whole processes."""
    sessions: int
    """Rollouts of about 110 KB."""
    long_mb: int
    """Length of the one long rollout."""
    known_sessions: int
    small_sessions: int
    """Sessions that are remembered in one pass."""
    memory_files: int
    jobs: int
    jobs_with_work: int


FULL = Sizes(
    rounds=7,
    process_rounds=21,
    sessions=200,
    long_mb=200,
    known_sessions=10_000,
    small_sessions=1_000,
    memory_files=2_000,
    jobs=5_000,
    jobs_with_work=5_000,
)
"""The sizes for which the targets were set."""

QUICK = Sizes(
    rounds=3,
    process_rounds=5,
    sessions=30,
    long_mb=40,
    known_sessions=2_000,
    small_sessions=300,
    memory_files=2_000,
    jobs=1_000,
    jobs_with_work=400,
)
"""For a look while working; some figures come out worse, for their fixed costs weigh more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a measurement is given."""

    scratch: Path
    sizes: Sizes
    seed: int = 1
    peers: Mapping[str, Path] = field(default_factory=dict)
    """Other memories by name, as far as the user gave their paths."""
    node_program: Path | None = None
    """Runs those of them that are written for node."""
    _made: dict[str, object] = field(default_factory=dict)

    @property
    def node(self) -> Path:
        """Raises FileNotFoundError."""
        if self.node_program is None:
            raise FileNotFoundError("node is not there to run the peer; give it with --node")
        return self.node_program

    def once(self, name: str, make: Callable[[Path], T]) -> T:
        """Make an input in a folder of that name when it is first wanted."""
        if name not in self._made:
            folder = self.scratch / name
            folder.mkdir(parents=True)
            self._made[name] = make(folder)
        return cast("T", self._made[name])
