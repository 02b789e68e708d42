"""Whether a server assembles a context by itself: learned from its refusal, and believed for six hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_ov_commit.noted import Noted

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.server import Answer

BELIEVED_MS: Final = 6 * 3_600_000
REFUSALS: Final = frozenset({400, 422})
_SIGNS: Final = ("extra", "mode", "unexpected")


class Faces:
    """What one server can do."""

    def __init__(self, services: Services, url: str) -> None:
        self._refused = Noted(services, "no_context_mode", url)

    def is_old(self) -> bool:
        """Whether it refused to assemble a context within the last six hours."""
        return self._refused.holds(BELIEVED_MS)

    def learn(self, answer: Answer) -> None:
        """A refusal of the mode itself is remembered; any other one says nothing about it."""
        if answer.status in REFUSALS and any(sign in answer.error.lower() for sign in _SIGNS):
            self._refused.note()
