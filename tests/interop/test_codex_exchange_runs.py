"""Exchange with Codex's memory, through whole runs."""

from __future__ import annotations

import fcntl

import pytest

from .codex_stand_in import CodexStandIn

BOTH = "[codex-interop]\nimport = true\nexport = true\n"
IMPORT = "extensions/codex_import"
EXPORT = "extensions/codexmem_import"
TURNS = (
    ("user", "Always write the changelog entry first in this repository. The staging server is called amber."),
    ("assistant", "I will."),
)


@pytest.fixture(params=["v1"])
def version(request):
    return request.param


@pytest.fixture
def codex(user, version):
    user.session(*TURNS)
    user.settings(BOTH)
    return CodexStandIn(user.codex, version)


def ours(user, memory="memories"):
    return {path: text for path, text in user.files(f"codexmem/{memory}").items() if path.endswith(".md")}


def everything(user):
    return b"".join([*user.files("codexmem").values(), *user.files("user/.codex").values()]).decode("utf-8", "replace")


def test_what_codex_consolidated_is_in_ours_after_the_same_run_and_marked(user, codex):
    user.run()
    handbook = ours(user)["MEMORY.md"].decode()
    assert "# Task Group: imported, /home/dev/boat" in handbook
    assert 'paint twice" [from codex] [Task 1]' in handbook
    assert '"the mast light is called gannet" [from codex]' in handbook
    assert "gannet" in ours(user)["memory_summary.md"].decode()
    assert "01a22d0b" not in handbook
    assert "changelog" in handbook


def test_the_first_copies_are_additions_in_the_diff(user, codex):
    user.settings("")
    user.run()
    user.settings(BOTH)
    user.run()
    (newest, *_) = user.codexmem("history")["history"]
    changes = user.codexmem("diff", newest["id"])["changes"]
    added = {change["path"] for change in changes if change["status"] == "A"}
    assert f"{IMPORT}/resources/codex/MEMORY.md" in added


def test_ours_are_in_codexs_folder_after_the_same_run(user, codex):
    before = codex.artifacts
    user.run()
    folder = codex.root / EXPORT
    assert (folder / "resources/codexmem/MEMORY.md").read_bytes() == ours(user)["MEMORY.md"]
    assert (folder / "resources/codexmem/memory_summary.md").read_bytes() == ours(user)["memory_summary.md"]
    assert "[from codexmem]" in (folder / "instructions.md").read_text()
    assert codex.artifacts == before
    assert {path.name for path in codex.root.iterdir()} == {"MEMORY.md", "memory_summary.md", "extensions"}


@pytest.mark.parametrize(("version", "both"), [("v1", False), ("v2", True)], indirect=["version"])
def test_nothing_echoes_over_ten_rounds(user, codex, both):
    """From the second consolidation on both sides' files stay byte for byte as they are."""
    user.settings(BOTH + ("exchange_summary = true\n" if both else ""))
    rounds = []
    for _ in range(10):
        user.run()
        codex.consolidate()
        rounds.append((ours(user), ours(user, "memories_v2") if both else {}, codex.artifacts))
    assert [
        number for number, state in enumerate(rounds[1:], 2) if state[0]["MEMORY.md"] != rounds[1][0]["MEMORY.md"]
    ] == []
    assert [number for number, state in enumerate(rounds[2:], 3) if state != rounds[1]] == []
    theirs = b"".join(codex.artifacts.values()).decode()
    assert "amber" in theirs
    assert theirs.count("gannet") == 1
    assert ours(user)["MEMORY.md"].decode().count("amber") == rounds[0][0]["MEMORY.md"].decode().count("amber")


def test_imports_outlive_the_seven_days_of_an_extensions_resources(user, codex):
    user.run()
    user.run()
    assert f"{IMPORT}/resources/codex/MEMORY.md" in ours(user)


def test_what_codex_forgets_we_forget(user, codex):
    user.settings("[codex-interop]\nimport = true\n")
    user.run()
    text = (codex.root / "memory_summary.md").read_text()
    (codex.root / "memory_summary.md").write_text(text.replace("- the mast light is called gannet\n", ""))
    user.run()
    assert "gannet" not in b"".join(ours(user).values()).decode()


def test_forgetting_rewrites_codexs_copies_at_once(user, codex):
    user.run()
    assert "amber" in (codex.root / EXPORT / "resources/codexmem/MEMORY.md").read_text()
    user.codexmem("forget", "--text", "The staging server is called amber.")
    assert "amber" not in everything(user).replace(user.session(*TURNS).read_text(), "")
    assert "changelog" in (codex.root / EXPORT / "resources/codexmem/MEMORY.md").read_text()


def test_forgetting_removes_copies_that_are_not_exported_any_more(user, codex):
    user.run()
    user.settings("")
    report = user.codexmem("forget", "--text", "The staging server is called amber.")
    assert report["pending"] == []
    assert not (codex.root / EXPORT / "resources").exists()


@pytest.mark.parametrize(
    ("settings", "environ"),
    [
        (BOTH + "codex_home = '~/other'\n", {}),
        (BOTH, {"CODEX_HOME": "{home}/other"}),
        (BOTH, {"CODEXMEM_DISABLE": "codex-interop"}),
    ],
)
def test_forgetting_removes_copies_of_which_no_setting_and_no_plugin_tells_any_more(user, codex, settings, environ):
    """Codex's home is another one now, or only in this shell, or the plugin is gone."""
    user.run()
    (user.home / "other/memories").mkdir(parents=True)
    user.settings(settings)
    environ = {name: value.format(home=user.home) for name, value in environ.items()}
    report = user.codexmem("forget", "--text", "The staging server is called amber.", **environ)
    assert report["pending"] == []
    assert not (codex.root / EXPORT / "resources").exists()
    assert codex.artifacts
    user.settings(BOTH)
    user.run()
    assert "changelog" in (codex.root / EXPORT / "resources/codexmem/MEMORY.md").read_text()


def test_a_reset_leaves_no_copies(user, codex):
    user.run()
    user.codexmem("reset", "--yes")
    assert not (codex.root / EXPORT / "resources").exists()
    assert codex.artifacts


def test_forgetting_while_codex_is_at_work_is_finished_by_the_next_run(user, codex):
    user.run()
    user.settings("")  # so that no ordinary export does it
    lock = user.codex / "memories.lock"
    lock.write_bytes(b"")
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        report = user.codexmem("forget", "--text", "The staging server is called amber.")
        assert "memories.lock is held" in report["pending"][0]
        assert "amber" in (codex.root / EXPORT / "resources/codexmem/MEMORY.md").read_text()
    user.run()
    assert not (codex.root / EXPORT / "resources").exists()


def test_what_codex_still_knows_does_not_bring_back_what_was_forgotten(user, codex):
    user.run()
    codex.consolidate()
    user.codexmem("forget", "--text", "The mast light is called gannet")
    user.run()
    assert "gannet" not in b"".join(user.files("codexmem").values()).decode("utf-8", "replace")
    assert "gannet" in (codex.root / "memory_summary.md").read_text()


def test_while_codex_consolidates_nothing_of_its_folder_changes_and_later_it_does(user, codex):
    lock = user.codex / "memories.lock"
    lock.write_bytes(b"")
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        report = user.run(warnings=["memories.lock is held"])
        assert report["memories"]["v1"]["status"] == "succeeded"
        assert not (codex.root / EXPORT).exists()
        assert f"{IMPORT}/resources/codex/MEMORY.md" not in ours(user)
    user.run()
    assert (codex.root / EXPORT / "resources/codexmem/MEMORY.md").exists()
    assert f"{IMPORT}/resources/codex/MEMORY.md" in ours(user)
    assert lock.exists()


def test_without_anything_new_codexs_lock_is_not_touched(user, codex):
    user.run()
    user.run()
    lock = user.codex / "memories.lock"
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        user.run()  # and no warning


def test_a_link_in_the_place_of_our_extension_is_refused(user, codex):
    outside = user.home / "outside"
    outside.mkdir()
    (codex.root / "extensions").symlink_to(outside)
    user.run(warnings=["exchange failed"])
    assert list(outside.iterdir()) == []


def test_homes_that_are_one_are_not_exchanged_and_status_says_why(user, codex):
    user.memory = user.codex
    user.run(warnings=["overlap"])
    assert not (codex.root / EXPORT).exists()
    (line,) = [line for line in user.codexmem("status")["plugins"] if line["check"] == "codex-interop"]
    assert "overlap" in line["message"]


@pytest.mark.parametrize("killed", ["import", "export"])
def test_a_kill_at_any_instant_leaves_both_sides_whole_and_the_next_run_finishes(user, codex, killed):
    user.run()
    codex.consolidate()
    user.session(
        ("user", "Never push on Fridays."), ("assistant", "All right."), id_="3f0c1a52-0000-4000-8000-000000000002"
    )
    (codex.root / "MEMORY.md").write_text((codex.root / "MEMORY.md").read_text().replace("two coats", "three coats"))
    before = codex.artifacts
    user.keep()
    log = user.place.with_name("instants")
    one_memory = {"CODEXMEM_DISABLE": "memory-v2"}
    user.run(instants=log, **one_memory)
    names = log.read_text().split()
    wanted = ours(user), user.files("user/.codex")
    renames = [number for number, name in enumerate(names, 1) if name.startswith("rename:extensions")]
    last = max(number for number, name in enumerate(names, 1) if name.startswith("baseline:"))
    inside = [number for number in renames if (number > last) == (killed == "export")]
    assert len(inside) >= 2
    for number in user.killed_at_each(inside, **one_memory):
        assert codex.artifacts == before
        for path, content in user.files("user/.codex").items():
            if path.startswith(f"memories/{EXPORT}/resources") and "/." not in path:
                assert content.startswith((b"v1\n", b"#")), names[number - 1]
                assert content.endswith(b"\n"), names[number - 1]
        user.run(**one_memory)
        assert (ours(user), user.files("user/.codex")) == wanted, names[number - 1]
