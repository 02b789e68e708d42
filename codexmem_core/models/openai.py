"""The backend ``openai``: OpenAI itself, and every server that speaks Responses or Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.models.provider import Endpoint, HttpProvider, missing_key
from codexmem_core.models.wires.openai_chat import ChatWire
from codexmem_core.models.wires.openai_responses import ResponsesWire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.models.exchange import Exchange
    from codexmem_core.models.reached import Reached
    from codexmem_core.models.selection import ModelSettings, Stage

NAME = "openai"
BASE_URL = "https://api.openai.com/v1"
API_KEY_ENV = "OPENAI_API_KEY"
DEFAULTS: Mapping[Stage, str] = {"extraction": "gpt-6-luna", "consolidation": "gpt-6.1-terra"}
"""What Codex 0.171 asks in the same stages."""
NO_DEFAULTS: Mapping[Stage, str] = {"extraction": "", "consolidation": ""}


def openai(settings: ModelSettings, environ: Mapping[str, str], exchange: Callable[[Deadline], Exchange]) -> Reached:
    """OpenAI's key is only ever sent to OpenAI: another address gets the key of ``api_key_env``, or none."""
    own = settings.base_url in ("", BASE_URL)
    variable = settings.api_key_env or (API_KEY_ENV if own else "")

    def key() -> str:
        return environ.get(variable, "").strip() if variable else ""

    def headers() -> Mapping[str, str]:
        if not variable:
            return {}
        if not key():
            raise missing_key(NAME, variable)
        return {"authorization": f"Bearer {key()}"}

    url = settings.base_url or BASE_URL
    endpoint = Endpoint(name=NAME, url=url, headers=headers, key=key)
    defaults = DEFAULTS if own else NO_DEFAULTS
    wire = ChatWire() if settings.wire == "chat" else ResponsesWire()
    provider = HttpProvider(endpoint, wire, settings, defaults, exchange)
    return provider.reached(
        "OpenAI, or any server that speaks its API (base_url): Ollama, vLLM, LM Studio, llama.cpp", variable
    )
