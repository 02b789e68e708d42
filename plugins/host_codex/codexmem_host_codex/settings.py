"""Codex's config.toml: the trust in our hooks, the entry of our MCP server, and switches that turn either off."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs import toml_text
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.toml_text import OtherFormError, value_at
from codexmem_hookspecs.values.setup import MCP_EVENT, MCP_NAME, InstalledHook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.hook_files import HookEntry

    from codexmem_host_codex.trust import TrustBook

SERVER = ("mcp_servers", MCP_NAME)
SWITCHES = ("hooks", "codex_hooks")
"""Keys of ``[features]`` that turn all hooks off; the second is the older name."""


class CodexSettings(NamedTuple):
    """config.toml as it stands."""

    path: str
    text: str
    trust: TrustBook

    def document(self) -> Mapping[str, object]:
        """What it says. Raises Refused."""
        try:
            return toml_text.read(self.text)
        except ValueError as error:
            raise Refused(f"{self.path} is not changed: it is no TOML ({error})") from None

    def changed(self, before: Sequence[HookEntry], after: Sequence[HookEntry], server: Sequence[str]) -> str:
        """The text for these hooks and this program as MCP server (empty: none). Raises Refused."""
        argv = self._server_argv()
        if argv and not ours(argv):
            raise Refused(
                f"{self.path} has an MCP server called {MCP_NAME} that is another program ({argv[0]}): rename it there"
            )
        try:
            text = self.trust.renewed(self.text, before, after)
            if not server:
                return toml_text.without_tables(text, SERVER) if argv else text
            if list(server) == argv:
                return text
            return toml_text.with_table(text, SERVER, {"command": server[0], "args": server[1:]})
        except OtherFormError as error:
            raise Refused(f"{self.path} is not changed: {error}") from None

    def trouble(self, entry: HookEntry) -> tuple[str, str]:
        """Why Codex does not run one of our hooks although it is trusted, and what the user must do."""
        document = self.document()
        if any(value_at(document, ("features", switch)) is False for switch in SWITCHES):
            return "all hooks of Codex are switched off", f"set hooks = true in [features] of {self.path}"
        if any(state.get("enabled") is False for state in self.trust.states(document, entry)):
            return "it is switched off", "switch it on in Codex with /hooks"
        return "", ""

    def server(self) -> list[InstalledHook]:
        """The entry of our MCP server, if there is one."""
        argv = self._server_argv()
        if not ours(argv):
            return []
        off = value_at(self.document(), (*SERVER, "enabled")) is False
        return [
            InstalledHook(
                event=MCP_EVENT,
                path=self.path,
                command=shlex.join(argv),
                problem="it is switched off" if off else "",
                fix=f"take enabled = false out of [{'.'.join(SERVER)}] in {self.path}" if off else "",
            )
        ]

    def _server_argv(self) -> list[str]:
        """Program and arguments of whatever has our server's name; empty: nothing has."""
        entry = value_at(self.document(), SERVER)
        if not isinstance(entry, dict) or not entry:
            return []
        arguments = entry.get("args", [])
        return [
            str(entry.get("command", entry.get("url", ""))),
            *map(str, arguments if isinstance(arguments, list) else ()),
        ]


def ours(argv: Sequence[str]) -> bool:
    """Whether a program is codexmem, of whatever version and place."""
    return any("codexmem_core" in argument for argument in argv)
