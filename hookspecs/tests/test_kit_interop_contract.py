"""InteropContract passes a small good exchange, and notices what a bad one does wrong."""

import os
from typing import ClassVar

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.testing import InteropContract
from codexmem_hookspecs.values.interop import Mirror
from codexmem_hookspecs.values.records import DoctorCheck, Finding, Setting

HOOK_API = 1


def letters(services):
    """The made-up tool's folder; it is another process's, so it may not be there."""
    return os.path.join(services.home, ".postbox", "letters")


class Postbox:
    """A made-up tool that keeps letters; ours are put into its inbox."""

    @hookimpl
    def codexmem_settings(self):
        return [Setting(key="enabled", default=False, help="exchange letters")]

    @hookimpl
    def codexmem_interop_import(self, workspace, services):
        if not services.settings["enabled"] or not os.path.isdir(letters(services)):
            return []
        folder = services.open_folder(letters(services))
        files = {stat.path: folder.read(stat.path) for stat in folder.scan(suffixes=(".md",))}
        return [Mirror(extension="postbox", instructions="Letters.\n", files=files)]

    @hookimpl
    def codexmem_interop_export(self, snapshot, services):
        root = os.path.join(services.home, ".postbox")
        wanted = services.settings["enabled"]
        if not os.path.isdir(root) or not (wanted or snapshot.forgotten):
            return []
        files = {"ours.md": snapshot.files["MEMORY.md"]} if wanted else {}
        lock = os.path.join(root, "post.lock")
        return [Mirror(extension="codexmem", instructions="Ours.\n", files=files, root=root, lock=lock)]

    @hookimpl
    def codexmem_doctor_checks(self):
        return [
            DoctorCheck(name="postbox", summary="letters", run=lambda services: [Finding(level="ok", message="on")])
        ]


class TestPostbox(InteropContract):
    plugin = Postbox()
    on: ClassVar = {"enabled": True}
    source = ".postbox"
    files: ClassVar = {"letters/a.md": b"a\n", "letters/b.md": b"from {home}\n"}
    removed = "letters/b.md"


def bad(**hooks):
    """A postbox with hooks exchanged, as the contract sees it."""
    marked = {name: hookimpl(hook) for name, hook in hooks.items()}
    contract = TestPostbox()
    contract.plugin = type("BadPostbox", (Postbox,), {"__module__": __name__, **marked})()
    return contract


def always(self, workspace, services):
    return [Mirror(extension="postbox", instructions="i", files={})]


def writes(self, workspace, services):
    with open(os.path.join(services.home, ".postbox", "read"), "w", encoding="utf-8") as file:
        file.write("seen")
    return []


def counts(self, workspace, services, seen=[]):  # noqa: B006 - that it remembers is the fault
    seen.append(1)
    return [Mirror(extension="postbox", instructions=f"{len(seen)}", files={})]


def hidden(self, workspace, services):
    return [Mirror(extension="postbox", instructions="i", files={".hidden/a.md": b"a"})]


def forgets_the_disk(self, workspace, services):
    try:
        files = dict.fromkeys(os.listdir(letters(services)), b"a")
    except FileNotFoundError:
        files = {}
    return [Mirror(extension="postbox", instructions="i", files=files)]


def swallows(self, workspace, services):
    folder = services.open_folder(letters(services))
    files = {stat.path: b"a" for stat in folder.scan(on_error=lambda path, error: None)}
    return [Mirror(extension="postbox", instructions="i", files=files)]


def keeps_all(self, workspace, services):
    return [Mirror(extension="postbox", instructions="i", files={"a.md": b"a"}, keep=("b.md",))]


def grows(self, workspace, services):
    files = {path.split("/resources/")[1]: b"x" for path in workspace.walk() if "/resources/" in path}
    return [Mirror(extension="postbox", instructions="i", files={**files, f"{len(files)}.md": b"x"})]


def makes(self, snapshot, services):
    root = os.path.join(services.home, ".postbox")
    return [Mirror(extension="codexmem", instructions="i", files={"a.md": b"a"}, root=root)]


def stays(self, snapshot, services):
    if not services.settings["enabled"]:
        return []
    return Postbox().codexmem_interop_export(snapshot, services)


@pytest.mark.parametrize(
    ("name", "hook", "test"),
    [
        ("codexmem_interop_import", always, "test_everything_is_off_until_the_user_says_so"),
        ("codexmem_interop_import", always, "test_without_the_other_tool_nothing_happens"),
        ("codexmem_interop_import", writes, "test_nothing_of_the_other_tools_is_changed"),
        ("codexmem_interop_import", counts, "test_the_same_state_gives_the_same_mirrors"),
        ("codexmem_interop_import", hidden, "test_imports_are_extensions_with_instructions_and_safe_names"),
        ("codexmem_interop_import", grows, "test_own_copies_change_nothing"),
        ("codexmem_interop_import", keeps_all, "test_what_is_gone_at_its_source_goes"),
        ("codexmem_interop_import", forgets_the_disk, "test_a_source_that_is_away_removes_nothing"),
        ("codexmem_interop_export", makes, "test_exports_go_to_a_folder_that_the_other_tool_has_made"),
        (
            "codexmem_interop_export",
            stays,
            "test_after_forgetting_no_copy_stays_where_nothing_is_exported_any_more",
        ),
    ],
)
def test_a_fault_is_noticed(name, hook, test, codexmem_services):
    with pytest.raises(AssertionError):
        getattr(bad(**{name: hook}), test)(codexmem_services)


def test_an_error_that_is_swallowed_is_noticed(codexmem_services, monkeypatch):
    with pytest.raises(AssertionError):
        bad(codexmem_interop_import=swallows).test_a_source_that_cannot_be_read_removes_nothing(
            codexmem_services, monkeypatch
        )


def test_a_check_without_words_and_a_plugin_without_a_direction_are_noticed(codexmem_services):
    def silent(self):
        return [DoctorCheck(name="postbox", summary="letters", run=lambda services: [Finding(level="ok", message=" ")])]

    with pytest.raises(AssertionError):
        bad(codexmem_doctor_checks=silent).test_every_check_says_something_and_none_fails(codexmem_services)
    contract = TestPostbox()
    contract.plugin = type("Nothing", (), {"__module__": __name__})()
    with pytest.raises(AssertionError):
        contract.test_the_plugin_has_hooks_of_this_stage_and_none_that_is_unknown()
