"""How known programs are asked: with their tools switched off, and without leaving a session behind.

Checked against Codex CLI 0.171.0 and Claude Code 2.1.197. Claude Code is given no tool at all, and one retry of its
own: its ten take minutes. Codex keeps an ``apply_patch`` that its read-only sandbox refuses; shell, network, MCP
servers, apps, hooks, other agents and the user's settings are off.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.values.models import Usage

from codexmem_core.models.wires.events import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CODEX_OFF = (
    "shell_tool", "unified_exec", "apps", "plugins", "hooks", "memories", "multi_agent", "goals", "browser_use",
    "computer_use", "in_app_browser", "image_generation", "view_image", "skill_search", "tool_suggest", "sleep_tool",
    "workspace_dependencies",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a program's output means."""

    text: str
    usage: Usage | None = None
    status: int = 0
    """HTTP status of a failure that the program reports in its output; 0: none."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A program that answers a prompt."""

    arguments: Callable[[str, str], tuple[str, ...]]
    """From model and effort (either may be empty)."""
    read: Callable[[str], Printed]
    credentials: Callable[[Mapping[str, str]], str]
    """What changes when one logs in again: times of credential files, and keys in the environment."""


def _plain(output: str) -> Printed:
    return Printed(text=output)


def _codex(model: str, effort: str) -> tuple[str, ...]:
    settings = [f"features.{name}=false" for name in _CODEX_OFF]
    settings += ["agents.enabled=false", 'web_search="disabled"', "project_doc_max_bytes=0"]
    if effort:
        settings.append(f'model_reasoning_effort="{effort}"')
    return (
        "codex", "--ask-for-approval", "never", "exec", "--ephemeral", "--ignore-user-config", "--ignore-rules",
        "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never",
        *(("--model", model) if model else ()),
        *(part for setting in settings for part in ("-c", setting)),
        "-",
    )  # fmt: skip


def _claude(model: str, effort: str) -> tuple[str, ...]:
    return (
        "env", "CLAUDE_CODE_MAX_RETRIES=1", "claude", "--print", "--safe-mode", "--no-session-persistence",
        "--strict-mcp-config", "--disable-slash-commands", "--output-format", "json",
        *(("--model", model) if model else ()),
        *(("--effort", effort) if effort else ()),
        "--tools", "",
    )  # fmt: skip


def _claude_printed(output: str) -> Printed:
    """Claude Code's one result object."""
    try:
        result = json.loads(output)
    except (ValueError, RecursionError):
        return Printed(text=output)
    if not isinstance(result, dict) or "result" not in result:
        return Printed(text=output)
    status = result.get("api_error_status")
    return Printed(
        text=str(result.get("result") or ""),
        usage=_claude_usage(result),
        status=status if isinstance(status, int) else 0,
        failed=bool(result.get("is_error")),
    )


def _claude_usage(result: Mapping[str, Any]) -> Usage | None:
    usage = result.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens_in = count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(tokens_in=tokens_in, tokens_out=count(usage, "output_tokens"))


def _codex_credentials(environ: Mapping[str, str]) -> str:
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME", ""), ".codex")
    return _material(environ, ("CODEX_API_KEY", "OPENAI_API_KEY"), os.path.join(home, "auth.json"))


def _claude_credentials(environ: Mapping[str, str]) -> str:
    home = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME", ""), ".claude")
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
    return _material(environ, names, os.path.join(home, ".credentials.json"))


def _material(environ: Mapping[str, str], names: tuple[str, ...], path: str) -> str:
    """Keys, and when the file was written; never what is in it."""
    keys = [environ[name] for name in names if environ.get(name)]
    try:
        stat = os.stat(path)
    except OSError:
        return "\n".join(keys)
    return "\n".join([*keys, f"{stat.st_mtime_ns} {stat.st_size}"])


def _no_credentials(_environ: Mapping[str, str]) -> str:
    return ""


RECIPES: Mapping[str, Recipe] = {
    "codex": Recipe(arguments=_codex, read=_plain, credentials=_codex_credentials),
    "claude": Recipe(arguments=_claude, read=_claude_printed, credentials=_claude_credentials),
}


def own_program(command: tuple[str, ...]) -> Recipe:
    """Any program: the prompt on its standard input, the answer on its standard output."""
    return Recipe(arguments=lambda _model, _effort: command, read=_plain, credentials=_no_credentials)
