"""The backend ``anthropic``: Anthropic's Messages API, and servers that speak it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.models.provider import Endpoint, HttpProvider, missing_key
from codexmem_core.models.wires.anthropic_messages import MessagesWire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.models.exchange import Exchange
    from codexmem_core.models.reached import Reached
    from codexmem_core.models.selection import ModelSettings, Stage

NAME = "anthropic"
BASE_URL = "https://api.anthropic.com"
API_KEY_ENV = "ANTHROPIC_API_KEY"
VERSION = "2023-06-01"
DEFAULTS: Mapping[Stage, str] = {"extraction": "", "consolidation": ""}
"""None: Anthropic retires models by date, so the user names one."""


def anthropic(settings: ModelSettings, environ: Mapping[str, str], exchange: Callable[[Deadline], Exchange]) -> Reached:
    """Anthropic's key is only ever sent to Anthropic: another address gets the key of ``api_key_env``, or none."""
    url = (settings.base_url or BASE_URL).removesuffix("/v1")
    variable = settings.api_key_env or (API_KEY_ENV if url == BASE_URL else "")

    def key() -> str:
        return environ.get(variable, "").strip() if variable else ""

    def headers() -> Mapping[str, str]:
        if variable and not key():
            raise missing_key(NAME, variable)
        identity = {"x-api-key": key()} if variable else {}
        return {**identity, "anthropic-version": VERSION}

    endpoint = Endpoint(name=NAME, url=url, headers=headers, key=key)
    provider = HttpProvider(endpoint, MessagesWire(), settings, DEFAULTS, exchange)
    return provider.reached("Anthropic, or any server that speaks its Messages API (base_url)", variable)
