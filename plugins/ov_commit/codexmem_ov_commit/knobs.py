"""Every setting of the plugin in one table: where it may be set, its default, its limits.

Precedence (OpenViking's clients, with our table in between): environment ``OPENVIKING_…``, our ``[ov-commit]`` table,
``plugin.codex`` and ``plugin`` of ovcli.conf, ``codex`` of ov.conf, default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.values.records import Setting, SettingValue

if TYPE_CHECKING:
    from collections.abc import Iterable

UNLIMITED: Final = math.inf
WORDS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One setting."""

    key: str
    """In our table; in ovcli.conf and ov.conf the same or its camel case."""
    default: SettingValue
    help: str
    low: float = -UNLIMITED
    high: float = UNLIMITED
    choices: tuple[str, ...] = ()
    env: str = ""
    """Environment variable; empty: ``OPENVIKING_`` and the key in capitals."""
    alias: str = ""
    """Its older name, which counts where the first is not set."""
    strict: bool = False
    """What is out of range says nothing, where any other number is raised or lowered to it."""
    special: float | None = None
    """A number below the range that means something of its own; the help says what."""
    project: bool = False
    """Whether a project's .codexmem.toml may set it."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Its environment variables, the first that is set counts."""
        return tuple(filter(None, (self.env or f"OPENVIKING_{self.key.upper()}", self.alias)))

    @property
    def least(self) -> float:
        """Smallest number that is taken as it is."""
        return self.low if self.special is None else min(self.low, self.special)

    @property
    def camel(self) -> str:
        """Its key as JavaScript writes it."""
        first, *rest = self.key.split("_")
        return first + "".join(word.capitalize() for word in rest)

    def read(self, value: object) -> SettingValue | None:
        """The value in this knob's type and range; None when it says nothing."""
        if isinstance(self.default, bool):
            return value if isinstance(value, bool) else WORDS.get(str(value).strip().lower())
        if isinstance(self.default, (int, float)):
            return self._number(value)
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value).strip()
        if isinstance(self.default, tuple):
            return tuple(filter(None, (part.strip() for part in text.split(","))))
        if self.choices and text not in self.choices:
            return None
        return text or None

    def _number(self, value: object) -> SettingValue | None:
        """None for what is no number, and where it must be in range for what is not."""
        if isinstance(value, bool) or value is None or value == "":
            return None
        try:
            number = float(str(value).strip().replace("_", "x"))  # Python's digit groups are no number elsewhere
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        number = math.floor(number) if isinstance(self.default, int) else number
        if number == self.special:
            return number
        if self.strict and not self.low <= number <= self.high:
            return None
        number = min(self.high, max(self.low, number))
        return int(number) if isinstance(self.default, int) else number


def _ms(key: str, default: int, help: str, *, high: float = UNLIMITED) -> Knob:  # noqa: A002 - the field's name
    """A time that may be no shorter than a second; the default 0 means that it follows from another one."""
    special = 0 if default == 0 else None
    return Knob(key=key, default=default, help=f"{help}, milliseconds", low=1_000, high=high, special=special)


def _age(key: str, default: int, help: str) -> Knob:  # noqa: A002 - the field's name
    """A time of the state folder. One that is not above 0 would sweep or retire everything at once: it says nothing."""
    env = f"OPENVIKING_CODEX_{key.upper()}"
    return Knob(key=key, default=default, help=f"{help}, milliseconds", low=1, strict=True, env=env)


KNOBS: Final[tuple[Knob, ...]] = (
    # whose server it is
    Knob(key="url", default="", help="OpenViking server; empty: ovcli.conf, ov.conf, else this machine"),
    Knob(key="api_key_env", default="", help="environment variable that holds the key", env="OPENVIKING_API_KEY_ENV"),
    Knob(key="account", default="", help="account, where the server trusts its clients"),
    Knob(key="user", default="", help="user, where the server trusts its clients"),
    Knob(
        key="peer_id", default="", help="peer that all sessions belong to; empty: the working directory's", project=True
    ),
    Knob(key="auth_mode", default="", choices=("", "trusted", "api_key"), help="how the server knows its clients"),
    Knob(
        key="credential_source",
        default="auto",
        choices=("auto", "env", "environment", "cli", "ovcli", "file", "config"),
        help="where url and key may come from",
        alias="OPENVIKING_CREDENTIALS_SOURCE",
    ),
    Knob(key="cli_config_file", default="~/.openviking/ovcli.conf", help="the client's file"),
    Knob(key="config_file", default="~/.openviking/ov.conf", help="the server's file"),
    Knob(
        key="state_dir",
        default="",
        help="folder of state files; empty: the host's usual one",
        env="OPENVIKING_CODEX_STATE_DIR",
    ),
    _ms("timeout_ms", 15_000, "until a request is given up", high=300_000),
    _ms("capture_timeout_ms", 0, "the same of writes; 0: twice timeout_ms, at least 30,000"),
    # writing
    Knob(key="auto_capture", default=True, help="send turns"),
    Knob(key="auto_commit_on_compact", default=True, help="commit before a compaction"),
    Knob(key="capture_mode", default="semantic", choices=("semantic", "keyword"), help="keyword: only where asked to"),
    Knob(key="capture_max_length", default=24_000, low=200, high=100_000, help="longest text of a turn, UTF-16 units"),
    Knob(key="capture_tool_max_chars", default=1_000_000, low=200, high=1_000_000, help="longest tool output"),
    Knob(key="capture_assistant_turns", default=True, help="send what the agent said and did"),
    Knob(key="capture_tool_results", default=True, help="send tool calls and results"),
    Knob(key="commit_token_threshold", default=20_000, low=1_000, high=1_000_000, help="tokens waiting until a commit"),
    Knob(key="commit_keep_recent_count", default=10, low=0, high=1_000, help="newest turns that such a commit leaves"),
    _age("idle_ttl_ms", 1_800_000, "without a turn until a session counts as ended"),
    _age("committed_ttl_ms", 2_592_000_000, "until a cursor is let go"),
    Knob(
        key="lock_wait_ms",
        default=-1,
        help="for another writer, milliseconds; -1: 120,000, before a compaction 40,000",
        low=0,
        special=-1,
        strict=True,
        env="OPENVIKING_CODEX_LOCK_WAIT_MS",
    ),
    Knob(key="bypass_session", default=False, help="leave this process's sessions alone", project=True),
    Knob(key="bypass_session_patterns", default=(), help="globs over session id and directory", project=True),
    Knob(key="workspace_peer", default=True, help="the working directory is the peer", project=True),
    Knob(key="pending_dir", default="~/.openviking/pending", help="queue of other clients, replayed"),
    Knob(key="pending_max_retries", default=3, low=0, high=100, help="tries of a queued entry"),
    Knob(key="pending_ttl_days", default=7, low=1, high=365, help="days until a queued entry is dropped"),
    Knob(
        key="pending_replay_limit", default=50, low=1, strict=True, high=10_000, help="queued entries a session start"
    ),
    # reading
    Knob(key="auto_recall", default=True, help="recall in front of prompts"),
    _ms("recall_timeout_ms", 120_000, "for all of a recall"),
    Knob(key="recall_limit", default=10, low=1, high=50, help="memories a prompt"),
    Knob(key="score_threshold", default=0.35, low=0, high=1, help="least score of a memory"),
    Knob(key="min_query_length", default=3, low=1, high=10_000, help="shorter prompts recall nothing, UTF-16 units"),
    Knob(key="recall_peer_scope", default="all", choices=("all", "actor"), help="whose memories"),
    Knob(key="recall_max_tokens", default=0, low=64, special=0, help="of a recall; 0: the server's own, 1,600"),
    Knob(key="recall_dedup_turns", default=5, low=0, high=20, help="turns in which nothing is told twice"),
    Knob(key="recall_query_expansion", default="", choices=("", "auto", "off"), help="empty: the server's own"),
    Knob(key="recall_compress", default=False, help="let a small model shorten what was recalled"),
    Knob(key="recall_compress_model", default="", help="its name; off switches it off"),
    Knob(
        key="recall_compress_thinking",
        default="",
        help="its effort; off switches it off",
        alias="OPENVIKING_RECALL_COMPRESS_REASONING_EFFORT",
    ),
    Knob(key="recall_compress_base_url", default="", help="its server"),
    _ms("recall_compress_timeout_ms", 0, "for it; 0: recall_timeout_ms less 10,000"),
    Knob(key="recall_compress_min_input_chars", default=1_500, low=0, high=100_000, help="shorter is left as it is"),
    Knob(key="recall_compress_max_input_chars", default=18_000, low=1_000, high=1_000_000, help="longest input"),
    Knob(key="recall_compress_max_bullets", default=6, low=1, high=50, help="lines of a digest"),
    Knob(key="no_auto_inject", default=False, help="give no profile at session starts"),
    Knob(key="profile_token_budget", default=10_000, low=500, high=50_000, help="of the profile"),
    Knob(key="resume_archive_inject", default=True, help="give the archive's overview on resume"),
    Knob(key="resume_archive_token_budget", default=32_000, low=0, high=128_000, help="asked of the server"),
    Knob(key="resume_archive_max_chars", default=6_000, low=1_000, high=200_000, help="longest overview"),
)


def settings() -> Iterable[Setting]:
    """Our table of config.toml."""
    for knob in KNOBS:
        yield Setting(
            key=knob.key,
            default=knob.default,
            help=knob.help,
            low=None if knob.least == -UNLIMITED else knob.least,
            high=None if knob.high == UNLIMITED else knob.high,
            choices=knob.choices,
            project=knob.project,
        )
