"""A backend together with what the breaker must know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.values.records import ModelBackend

    from codexmem_core.models.selection import Stage


def _unknown() -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How a backend is reached."""

    backend: ModelBackend
    provider: str
    """Who is asked, for breakers: ``openai at api.openai.com``."""
    credentials: Callable[[], str] = _unknown
    """What changes when the credentials change; only its keyed digest is ever kept. Empty: nobody knows."""
    defaults: Mapping[Stage, str] = field(default_factory=dict)
    """The backend's own model of each stage; empty: it needs none, or the user must name one."""
    attempts: int = 3
    """Requests for one question when no answer arrives; each is counted."""
    picks_model: bool = False
    """Whether it works without a model's name."""
    lacks: Callable[[], str] = _unknown
    """What is missing before it can be asked, such as its key; empty: nothing that one can see from here."""


def address(url: str) -> str:
    """Host and port of a URL: never a password in it."""
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or 'nowhere'}{port}"
