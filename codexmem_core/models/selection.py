"""Which model is asked in which stage, and how it is reached: the user's settings as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_core.config import Config

Stage = Literal["extraction", "consolidation"]
STAGES: tuple[Stage, ...] = ("extraction", "consolidation")
_OPTIONS: Mapping[Stage, str] = {"extraction": "extract_model", "consolidation": "consolidation_model"}

BYTES_A_TOKEN = 4
UNKNOWN_WINDOW_TOKENS = 150_000
USED_SHARE, INPUT_SHARE = 95, 70
"""Percent of the window that a model uses well, and of that what the input may take (Codex 0.171)."""


class ModelSettingsError(Exception):
    """The settings of [models] cannot work; says which and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """``[models]`` and the two model names of ``[memories]``."""

    backend: str
    chosen: Mapping[Stage, str]
    """The configured model of each stage; empty: the backend's own."""
    base_url: str
    wire: str
    api_key_env: str
    stream: bool
    structured: bool
    tool_calls: bool
    costs: bool
    efforts: tuple[str, ...]
    context_window: int
    max_output_tokens: int
    timeout_s: float
    recipe: str
    command: tuple[str, ...]

    def model(self, stage: Stage, defaults: Mapping[Stage, str]) -> str:
        """The model's name: ``[memories]`` option, ``[models] model``, the backend's default."""
        return self.chosen[stage] or defaults.get(stage, "")

    @property
    def budget_bytes(self) -> int:
        """Longest input of a request, UTF-8 bytes (Codex 0.171: 70 % of 95 % of the window, else 150,000 tokens)."""
        window = self.context_window
        usable = window * USED_SHARE // 100 * INPUT_SHARE // 100 if window else UNKNOWN_WINDOW_TOKENS
        return BYTES_A_TOKEN * max(1, usable)


def settings_of(config: Config) -> ModelSettings:
    """The settings as they are in force."""
    common = config.text("models", "model").strip()
    return ModelSettings(
        backend=config.text("models", "backend"),
        chosen={stage: config.text("memories", _OPTIONS[stage]).strip() or common for stage in STAGES},
        base_url=config.text("models", "base_url").strip().rstrip("/"),
        wire=config.text("models", "wire"),
        api_key_env=config.text("models", "api_key_env").strip(),
        stream=config.flag("models", "stream"),
        structured=config.flag("models", "structured"),
        tool_calls=config.flag("models", "tool_calls"),
        costs=config.flag("models", "costs"),
        efforts=config.names("models", "efforts"),
        context_window=config.number("models", "context_window"),
        max_output_tokens=config.number("models", "max_output_tokens"),
        timeout_s=config.decimal("models", "timeout_s"),
        recipe=config.text("models", "recipe"),
        command=config.names("models", "command"),
    )
