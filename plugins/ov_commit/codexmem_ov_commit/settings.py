"""What holds for a session: the knobs' values and the connection, each from the first place that names it.

Files are those of OpenViking's own clients: ``ovcli.conf`` of the client, ``ov.conf`` of a server on this machine. A
file that is no JSON object counts as absent; ``codexmem ov doctor`` says so.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from codexmem_hookspecs.errors import Refused

from codexmem_ov_commit.knobs import KNOBS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.records import SettingValue

DEFAULT_PORT = 1933
SERVER_VARIABLES = ("OPENVIKING_URL", "OPENVIKING_BASE_URL")
KEY_VARIABLES = ("OPENVIKING_BEARER_TOKEN", "OPENVIKING_API_KEY")
ONLY_FILE = ("cli", "ovcli", "file", "config")
ONLY_ENVIRONMENT = ("env", "environment")
CREDENTIAL_FIELDS = ("url", "api_key", "account", "account_id", "user", "user_id", "actor_peer_id", "peer_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where the server is and who we are there."""

    url: str
    """Without a slash at its end."""
    api_key: str = ""
    account: str = ""
    user: str = ""
    trusted: bool = False
    """Whether the server believes what a client says of itself; only then is it told."""
    timeout_s: float = 15.0
    write_timeout_s: float = 30.0
    origin: str = ""
    """What named the url, for people."""


class Settings:
    """Values by key, typed and within their limits, with where each came from."""

    def __init__(self, services: Services, cwd: str = "") -> None:
        self._environ = services.environ
        self._own = services.settings_for(cwd) if cwd else services.settings
        self._values: dict[str, SettingValue] = {}
        self.origins: dict[str, str] = {}
        self.broken: list[str] = []
        self._resolve("cli_config_file", [])
        self._resolve("config_file", [])
        self.cli = self._file(services, self.path("cli_config_file"))
        self.server = self._file(services, self.path("config_file"))
        if not self.cli and "OPENVIKING_CLI_CONFIG_FILE" not in self._environ and self._is_old_client_file():
            self.cli, self.server = self.server, {}
        plugin, codex = _table(self.cli, "plugin"), _table(self.server, "codex")
        files = [
            (_table(plugin, "codex"), "ovcli.conf plugin.codex"),
            (plugin, "ovcli.conf plugin"),
            (codex, "ov.conf codex"),
        ]
        for knob in KNOBS:
            self._resolve(knob.key, files)
        self._resolve("peer_id", [*files, ({"peer_id": self._file_peer()}, "ovcli.conf")])
        self.connection = self._connect(codex)

    def flag(self, key: str) -> bool:
        """A switch."""
        return cast("bool", self._values[key])

    def number(self, key: str) -> int:
        """A whole number."""
        return cast("int", self._values[key])

    def decimal(self, key: str) -> float:
        """A number."""
        return float(cast("float", self._values[key]))

    def text(self, key: str) -> str:
        """A text."""
        return cast("str", self._values[key])

    def words(self, key: str) -> tuple[str, ...]:
        """Several texts."""
        return cast("tuple[str, ...]", self._values[key])

    def path(self, key: str) -> str:
        """An absolute path; empty when nothing is set. ``~`` is the home of the environment, never of the process."""
        given = self.text(key)
        if given == "~" or given.startswith("~/"):
            given = os.path.join(self._environ.get("HOME", ""), given[2:])
        return os.path.abspath(given) if given else ""

    def _resolve(self, key: str, files: list[tuple[Mapping[str, object], str]]) -> None:
        knob = next(knob for knob in KNOBS if knob.key == key)
        own = self._own.get(key, knob.default)
        places: list[tuple[object, str]] = [(self._environ.get(name) or None, name) for name in knob.variables]
        places += [(own, "[ov-commit]")] if own != knob.default else []
        places += [(table[name], where) for table, where in files for name in (key, knob.camel) if name in table]
        for value, where in places:
            read = None if value is None else knob.read(value)
            if read is not None:
                self._values[key], self.origins[key] = read, where
                return
        self._values[key], self.origins[key] = knob.default, "default"

    def _file(self, services: Services, path: str) -> Mapping[str, object]:
        folder, name = os.path.split(path)
        try:
            found = json.loads(services.open_folder(folder).read(name, 1024 * 1024))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError, Refused) as error:
            self.broken.append(f"{path}: {error}")
            return {}
        if isinstance(found, dict):
            return found
        self.broken.append(f"{path}: no JSON object")
        return {}

    def _file_peer(self) -> str:
        """The peer that belongs to the key of the client's file; none where only the environment counts."""
        if self.text("credential_source") in ONLY_ENVIRONMENT:
            return ""
        return _string(self.cli, "actor_peer_id") or _string(self.cli, "peer_id")

    def _is_old_client_file(self) -> bool:
        """Older installations named the client's file by the server file's variable."""
        return (
            bool(self._environ.get("OPENVIKING_CONFIG_FILE"))
            and not isinstance(self.server.get("server"), dict)
            and any(isinstance(self.server.get(name), str) for name in CREDENTIAL_FIELDS)
        )

    # the connection

    def _connect(self, codex: Mapping[str, object]) -> Connection:
        server = _table(self.server, "server")
        sources = list(self._sources(codex, server))
        url, origin = _first(sources, "url")
        if not url and self.text("credential_source") in ONLY_ENVIRONMENT:
            url, origin = _local({}), "default"
        elif not url:
            url, origin = (
                (_string(server, "url"), "ov.conf server.url")
                if _string(server, "url")
                else (_local(server), "ov.conf server" if server else "default")
            )
        account, user = _first(sources, "account")[0], _first(sources, "user")[0]
        mode = self.text("auth_mode") or _string(server, "auth_mode")
        timeout_ms = self.number("timeout_ms")
        root_key = _first(sources, "root_key")[0] if _is_own_server(url, server) else ""
        return Connection(
            url=url.rstrip("/"),
            api_key=_first(sources, "api_key")[0] or root_key,
            account=account,
            user=user,
            trusted=mode == "trusted" or (mode != "api_key" and bool(account or user)),
            timeout_s=timeout_ms / 1_000,
            write_timeout_s=(self.number("capture_timeout_ms") or max(2 * timeout_ms, 30_000)) / 1_000,
            origin=origin,
        )

    def _sources(
        self, codex: Mapping[str, object], server: Mapping[str, object]
    ) -> Iterator[tuple[Mapping[str, str], str]]:
        """Credentials by place, the first that counts first (OpenViking's clients: credential source)."""
        mode = self.text("credential_source")
        environ = self._of_environment()
        cli = {
            "url": _string(self.cli, "url"),
            "api_key": _string(self.cli, "api_key"),
            "account": _string(self.cli, "account") or _string(self.cli, "account_id"),
            "user": _string(self.cli, "user") or _string(self.cli, "user_id"),
        }
        own = {key: self.text(key) for key in ("url", "account", "user") if self.origins[key] == "[ov-commit]"}
        if variable := self.text("api_key_env"):
            own["api_key"] = self._environ.get(variable, "")
        only_cli = mode in ONLY_FILE
        if not only_cli:
            yield environ, "environment"
        yield own, "[ov-commit]"
        if mode in ONLY_ENVIRONMENT:
            return
        yield cli, self.path("cli_config_file")
        if not only_cli and (any(environ.values()) or not any(cli.values())):
            yield (
                {
                    "url": _string(codex, "url"),
                    "api_key": _string(codex, "apiKey") or _string(codex, "api_key"),
                    "root_key": _string(server, "root_api_key"),
                    "account": _string(codex, "account"),
                    "user": _string(codex, "user"),
                },
                self.path("config_file"),
            )

    def _of_environment(self) -> dict[str, str]:
        def named(*names: str) -> str:
            return next(filter(None, (self._environ.get(name, "").strip() for name in names)), "")

        return {
            "url": named(*SERVER_VARIABLES),
            "api_key": named(*KEY_VARIABLES),
            "account": named("OPENVIKING_ACCOUNT"),
            "user": named("OPENVIKING_USER"),
        }


def _first(sources: list[tuple[Mapping[str, str], str]], field: str) -> tuple[str, str]:
    return next(((values[field], where) for values, where in sources if values.get(field)), ("", ""))


def _local(server: Mapping[str, object]) -> str:
    host = _string(server, "host") or "127.0.0.1"
    port = server.get("port")
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - where it listens, not where we do
    return f"http://{host}:{port if isinstance(port, int) else DEFAULT_PORT}"


def _is_own_server(url: str, server: Mapping[str, object]) -> bool:
    """Whether an address is that of the server of ov.conf, or on this machine: nobody else is shown its root key."""
    if url.rstrip("/") == (_string(server, "url") or _local(server)).rstrip("/"):
        return True
    try:
        return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    except ValueError:
        return False


def _table(found: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _string(found: Mapping[str, object], key: str) -> str:
    value = found.get(key)
    return value.strip() if isinstance(value, str) else ""
