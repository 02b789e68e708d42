"""What every plugin that exchanges memories with another tool must do, as a test class to subclass."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from codexmem_hookspecs import HOOK_API
from codexmem_hookspecs.testing.folder import PlainFolder
from codexmem_hookspecs.testing.registration import declared_version, registered
from codexmem_hookspecs.testing.samples import DictWorkspace
from codexmem_hookspecs.values.interop import Mirror, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import ClassVar

    from codexmem_hookspecs.known import Known
    from codexmem_hookspecs.testing.services import PlainServices
    from codexmem_hookspecs.values.capture import FileStat
    from codexmem_hookspecs.values.records import Finding, Setting, SettingValue

SUMMARY = b"v1\n\n## User Profile\n\n## User preferences\n\n- heron\n\n## General Tips\n\n## What's in Memory\n"
Tree = dict[str, tuple[str, bytes]]


class InteropContract:
    """Subclass as ``TestMyExchange`` and set the attributes. A direction that the plugin has not is not asked for."""

    plugin: ClassVar[object]
    """The plugin object that the entry point names."""
    on: ClassVar[Mapping[str, SettingValue]] = {}
    """Settings that turn everything on."""
    source: ClassVar[str] = ""
    """The other tool's folder below the user's home: ``.tool``."""
    files: ClassVar[Mapping[str, bytes]] = {}
    """What lies in it, by path, so that something is imported and there is a place to export to. In a content
    ``{home}`` stands for the user's home."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Further folders below the user's home that the other tool knows of."""
    removed: ClassVar[str] = ""
    """One of ``files`` that is imported; without it less is."""
    memory: ClassVar[str] = "v1"
    """The memory that takes part."""
    snapshot: ClassVar[Mapping[str, bytes]] = {"MEMORY.md": b"# Ours\n\n- heron\n", "memory_summary.md": SUMMARY}
    """That memory's consolidated files."""

    # What the tests stand on

    def home(self, services: PlainServices) -> str:
        """The other tool's folder."""
        return os.path.join(services.home, self.source)

    def fill(self, services: PlainServices) -> None:
        """Put the other tool's memory in place."""
        for folder in self.folders:
            os.makedirs(os.path.join(services.home, folder), exist_ok=True)
        for path, content in self.files.items():
            target = os.path.join(self.home(services), path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content.replace(b"{home}", services.home.encode()))

    def switched(self, services: PlainServices, **changed: SettingValue) -> PlainServices:
        """The services with the plugin's defaults, and what is changed about them."""
        settings: tuple[Setting, ...] = tuple(getattr(self.plugin, "codexmem_settings", tuple)())
        services.settings = {**{setting.key: setting.default for setting in settings}, **changed}
        return services

    def ready(self, services: PlainServices) -> PlainServices:
        """Everything is there and turned on."""
        self.fill(services)
        return self.switched(services, **self.on)

    def imports(self, services: PlainServices, workspace: DictWorkspace | None = None) -> list[Mirror]:
        """What comes in."""
        hook = getattr(self.plugin, "codexmem_interop_import", None)
        given = DictWorkspace(self.memory) if workspace is None else workspace
        return list(hook(workspace=given, services=services)) if hook else []

    def exports(self, services: PlainServices, *, forgotten: bool = False) -> list[Mirror]:
        """What goes out."""
        hook = getattr(self.plugin, "codexmem_interop_export", None)
        snapshot = Snapshot(memory=self.memory, files=self.snapshot, forgotten=forgotten)
        return list(hook(snapshot=snapshot, services=services)) if hook else []

    def findings(self, services: PlainServices) -> list[Finding]:
        """What the plugin's checks say."""
        hook = getattr(self.plugin, "codexmem_doctor_checks", tuple)
        return [found for check in hook() for found in check.run(services)]

    # Registration

    def test_the_package_speaks_this_version_of_the_contract(self) -> None:
        """Another version is refused at load."""
        assert declared_version(self.plugin) == HOOK_API

    def test_the_plugin_has_hooks_of_this_stage_and_none_that_is_unknown(self) -> None:
        """Unknown hooks and arguments are refused at load."""
        hooks = {caller.name for caller in registered(self.plugin).get_hookcallers(self.plugin) or ()}
        assert hooks & {"codexmem_interop_import", "codexmem_interop_export"}

    def test_everything_is_off_until_the_user_says_so(self, codexmem_services: PlainServices) -> None:
        """Not a file of the other tool's is opened before that."""
        self.fill(codexmem_services)
        services = self.switched(codexmem_services)
        assert [value for value in services.settings.values() if value is True] == []
        assert (self.imports(services), self.exports(services)) == ([], [])
        assert services.opened == []

    # Both directions

    def test_without_the_other_tool_nothing_happens(self, codexmem_services: PlainServices) -> None:
        """It may not be installed: no mirror, no folder made, no warning."""
        services = self.switched(codexmem_services, **self.on)
        before = tree(services.home)
        assert (self.imports(services), self.exports(services)) == ([], [])
        assert (tree(services.home), services.log.warnings) == (before, [])

    def test_nothing_of_the_other_tools_is_changed(self, codexmem_services: PlainServices) -> None:
        """Plugins look; only the engine writes."""
        services = self.ready(codexmem_services)
        before = tree(services.home)
        self.imports(services)
        self.exports(services)
        self.findings(services)
        assert tree(services.home) == before

    def test_the_same_state_gives_the_same_mirrors(self, codexmem_services: PlainServices) -> None:
        """Byte for byte, or every run would be a change."""
        services = self.ready(codexmem_services)
        assert self.imports(services) == self.imports(services)
        assert self.exports(services) == self.exports(services)

    def test_every_check_says_something_and_none_fails(self, codexmem_services: PlainServices) -> None:
        """Off, without the other tool, and with it."""
        for prepare in (self.switched, lambda services: self.switched(services, **self.on), self.ready):
            assert [found for found in self.findings(prepare(codexmem_services)) if not found.message.strip()] == []

    # In

    def test_imports_are_extensions_with_instructions_and_safe_names(self, codexmem_services: PlainServices) -> None:
        """One mirror an extension, of this memory's own."""
        mirrors = self.imports(self.ready(codexmem_services))
        assert len({mirror.extension for mirror in mirrors}) == len(mirrors)
        for mirror in mirrors:
            assert (mirror.root, mirror.lock) == ("", "")
            assert mirror.instructions.strip()
            assert "/" not in mirror.extension
            names = (mirror.extension, *mirror.files, *mirror.keep)
            assert [name for name in names if not is_safe(name)] == []

    def test_own_copies_change_nothing(self, codexmem_services: PlainServices) -> None:
        """A second run over what the first one brought in."""
        services = self.ready(codexmem_services)
        workspace = DictWorkspace(self.memory)
        first = self.imports(services, workspace)
        for mirror in first:
            applied(workspace, mirror)
        assert bool(workspace.files) == bool(self.removed)
        copies = dict(workspace.files)
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        assert workspace.files == copies

    def test_what_is_gone_at_its_source_goes(self, codexmem_services: PlainServices) -> None:
        """That is how forgetting comes in."""
        services = self.ready(codexmem_services)
        workspace = DictWorkspace(self.memory)
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        before = set(workspace.files)
        if self.removed:
            os.unlink(os.path.join(self.home(services), self.removed))
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        assert (set(workspace.files) < before) == bool(self.removed)

    def test_a_source_that_is_away_removes_nothing(self, codexmem_services: PlainServices) -> None:
        """A disk that is not mounted looks like this."""
        services = self.ready(codexmem_services)
        workspace = DictWorkspace(self.memory)
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        before = dict(workspace.files)
        os.rename(self.home(services), os.path.join(services.home, "away"))
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        assert workspace.files == before

    def test_a_source_that_cannot_be_read_removes_nothing(
        self, codexmem_services: PlainServices, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It raises, or keeps what it does not know."""
        services = self.ready(codexmem_services)
        workspace = DictWorkspace(self.memory)
        for mirror in self.imports(services, workspace):
            applied(workspace, mirror)
        before = dict(workspace.files)
        monkeypatch.setattr(services, "open_folder", lambda root, *, write=False: LockedFolder(root, write=write))
        try:
            mirrors = self.imports(services, workspace)
        except Exception:  # noqa: BLE001 - any error will do: the engine removes nothing then
            mirrors = []
        for mirror in mirrors:
            applied(workspace, mirror)
        assert workspace.files == before

    # Out

    def test_exports_go_to_a_folder_that_the_other_tool_has_made(self, codexmem_services: PlainServices) -> None:
        """Absolute, there, with an absolute lock if any; and once it is gone nothing is exported."""
        services = self.ready(codexmem_services)
        for mirror in self.exports(services):
            assert os.path.isabs(mirror.root)
            assert os.path.isdir(mirror.root)
            assert not mirror.lock or (os.path.isabs(mirror.lock) and mirror.lock.endswith(".lock"))
            assert mirror.instructions.strip()
            assert [name for name in (mirror.extension, *mirror.files, *mirror.keep) if not is_safe(name)] == []
            shutil.rmtree(mirror.root)
        assert self.exports(services) == []

    def test_after_forgetting_no_copy_stays_where_nothing_is_exported_any_more(
        self, codexmem_services: PlainServices
    ) -> None:
        """With the export off, what was exported before is withdrawn, and only then."""
        services = self.ready(codexmem_services)
        exported = self.exports(services)
        for mirror in exported:
            for path, content in mirror.files.items():
                PlainFolder(mirror.root, write=True).write(f"extensions/{mirror.extension}/resources/{path}", content)
        self.switched(services)
        assert self.exports(services) == []
        withdrawn = self.exports(services, forgotten=True)
        assert {(mirror.root, mirror.extension) for mirror in withdrawn} == {
            (mirror.root, mirror.extension) for mirror in exported
        }
        assert [mirror for mirror in withdrawn if mirror.files or mirror.keep] == []


class LockedFolder(PlainFolder):
    """A folder in which nothing can be read."""

    def _file(self, path: str) -> str:
        raise PermissionError(13, "Permission denied", self._path(path))

    def scan(
        self,
        under: str = "",
        *,
        suffixes: tuple[str, ...] = (),  # noqa: ARG002 - as the others, the folder's signature
        links: bool = False,  # noqa: ARG002
        known: Known | None = None,  # noqa: ARG002
        on_error: Callable[[str, OSError], None] | None = None,
    ) -> Iterator[FileStat]:
        """Nothing but the error."""
        error = PermissionError(13, "Permission denied", os.path.join(self.root, under))
        if on_error is None:
            raise error
        on_error(under, error)
        yield from ()

    def stat(self, path: str) -> FileStat:
        """The error."""
        raise PermissionError(13, "Permission denied", self._path(path))


def applied(workspace: DictWorkspace, mirror: Mirror) -> None:
    """Make the workspace's extension what the mirror says, as the engine does."""
    base = f"extensions/{mirror.extension}"
    kept = tuple(f"{base}/resources/{prefix.rstrip('/')}" for prefix in mirror.keep)
    wanted = {f"{base}/resources/{path}": content.decode("utf-8", "replace") for path, content in mirror.files.items()}
    for path in [path for path in workspace.files if path.startswith(f"{base}/resources/")]:
        if path not in wanted and not any(path == one or path.startswith(f"{one}/") for one in kept):
            del workspace.files[path]
    workspace.files.update(wanted)
    if wanted:
        workspace.files[f"{base}/instructions.md"] = mirror.instructions


def is_safe(path: str) -> bool:
    """Whether the engine takes a name: relative, printable, nothing hidden on the way."""
    parts = path.rstrip("/").split("/")
    return "\\" not in path and path.isprintable() and all(part and not part.startswith(".") for part in parts)


def tree(folder: str) -> Tree:
    """Everything below a folder: path → kind and content."""
    found: Tree = {}
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            kind = "link" if os.path.islink(path) else "folder" if os.path.isdir(path) else "file"
            content = b""
            if kind == "file":
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, folder)] = kind, content
    return found
