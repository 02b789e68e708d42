"""OpenCode's own program, for the time in which no server of it listens: ``session list`` and ``export``."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.json_lines import NotUnderstood

from codexmem_host_opencode import records
from codexmem_host_opencode.own_sessions import place
from codexmem_host_opencode.server import PASSWORD_VARIABLE, USER_VARIABLE, Server, credentials

if TYPE_CHECKING:
    from collections.abc import Collection

    from codexmem_hookspecs.services import Services

SECRET = secrets.token_urlsafe(24)
"""Of servers that this process starts."""
LISTENS = r"listening on (http://\S+)"
SERVE_S = 60.0
"""It needs five seconds, and longer where its plugins are installed first."""
RUN_S = 60.0
"""It needs two seconds to begin."""
USUAL = "opencode"
PURE = "--pure"
"""Without plugins, our own among them."""
QUIET = "quiet"
"""Folder of settings in which nothing is left to install, below the plugin's own.

OpenCode 1.18 installs its plugin package into every folder of settings at each start until that has succeeded, also
when no plugin is loaded. A command that ends before keeps the lock, and the user's next OpenCode waits a minute for it.
"""
_PACKAGE = {"dependencies": {"@opencode-ai/plugin": "*"}}
_INSTALLED = {
    "package.json": json.dumps(_PACKAGE),
    "package-lock.json": json.dumps({"packages": {"": _PACKAGE}}),
    "node_modules/nothing": "",
}
_SWITCHES = ("OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH")
_OTHER_SETTINGS = ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT")
"""Variables that name more of them; empty is as good as not set."""


class Program(NamedTuple):
    """One that may be there."""

    path: str
    services: Services
    others: Collection[str] = ()
    """Real paths of programs that are OpenCode 2, as one is that was put in the place of OpenCode 1."""

    @property
    def is_there(self) -> bool:
        """Whether it could be started, and is OpenCode 1."""
        found = shutil.which(self.path, path=self.services.environ.get("PATH"))
        return found is not None and os.path.realpath(found) not in self.others

    def listed(self, directory: str) -> list[object]:
        """Sessions of the project that a directory belongs to. Raises NotUnderstood and FileNotFoundError."""
        printed = self._run("session", "list", "--format", "json", folder=directory)
        rows = records.decoded(printed) if printed.strip() else []
        if not isinstance(rows, list):
            raise NotUnderstood("opencode session list printed no list")
        return rows

    def conversation(self, session_id: str) -> records.Conversation:
        """A session and everything that was said in it. Raises NotUnderstood and FileNotFoundError."""
        return records.understood(records.decoded(self._run("export", session_id)), records.Conversation)

    def served(self) -> Server:
        """A server of our own, until the pass is over. It has the user's settings, for it needs the user's login.

        Only we know its password. Raises FileNotFoundError and TimeoutError.
        """
        environ = {
            USER_VARIABLE: "codexmem",
            PASSWORD_VARIABLE: SECRET,
            "XDG_STATE_HOME": os.path.join(self._place(), "state"),
        }
        argv = (self.path, "serve", "--hostname", "127.0.0.1", "--port", "0")
        where = place(self.services)
        url = self.services.processes.serve(argv, says=LISTENS, timeout_s=SERVE_S, folder=where, environ=environ)
        return Server(url, self.services, credentials(environ))

    def _must_be_there(self) -> None:
        if not self.is_there:
            raise FileNotFoundError(self.path)

    def _run(self, *words: str, folder: str = "") -> bytes:
        self._must_be_there()
        try:
            argv = (self.path, PURE, *words)
            status, printed, said = self.services.processes.run(
                argv, timeout_s=RUN_S, folder=folder, environ=self._quiet()
            )
        except TimeoutError as error:
            raise NotUnderstood(str(error)) from None
        if status:
            last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise NotUnderstood(f"opencode {' '.join(words)} gave {status}: {last[0]}")
        return printed

    def _quiet(self) -> dict[str, str]:
        """An environment in which the program touches neither the user's settings nor their locks."""
        folder = self.services.folder
        for name, content in _INSTALLED.items():
            try:
                folder.write(f"{QUIET}/opencode/{name}", content.encode(), exclusive=True)
            except FileExistsError:
                continue
        place = self._place()
        return {
            "XDG_CONFIG_HOME": place,
            "XDG_STATE_HOME": os.path.join(place, "state"),
            "npm_config_offline": "true",
            **dict.fromkeys(_SWITCHES, "1"),
            **dict.fromkeys(_OTHER_SETTINGS, ""),
        }

    def _place(self) -> str:
        return os.path.join(self.services.folder.root, QUIET)
