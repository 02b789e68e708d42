"""What the wheels say, and that all distributions are made alike."""

import re
import tomllib
from email.parser import Parser

import pytest
from packaging.requirements import Requirement

EXTRAS = {
    "v1": {"memory-v1"},
    "v2": {"memory-v2"},
    "codex": {"host-codex", "codex-interop"},
    "claude": {"host-claude", "claude-import"},
    "opencode": {"host-opencode"},
    "ov": {"ov-commit"},
    "mcp": {"mcp"},
}
"""An extra exists as soon as one of its own plugins does."""

ALONG = {"ov": {"host-codex"}}
"""What an extra brings that is another's own."""


@pytest.fixture(scope="module")
def metadata(wheels):
    found = {}
    for name, wheel in wheels.items():
        entry = next(path for path in wheel.namelist() if path.endswith(".dist-info/METADATA"))
        found[name] = Parser().parsestr(wheel.read(entry).decode())
    return found


@pytest.fixture(scope="module")
def plugins(projects):
    """Stems of the plugin distributions that exist: ``memory-v1``."""
    return {project["name"].removeprefix("codexmem-") for project in projects.values()} - {"codexmem", "hookspecs"}


def chosen(metadata, extra):
    """Distributions that the root's wheel requires for an extra, as they stand there."""
    lines = [line.split("; ") for line in metadata["codexmem"].get_all("Requires-Dist") if "extra" in line]
    return {requirement for requirement, marker in lines if marker in (f"'{extra}' == extra", f"extra == '{extra}'")}


def test_every_distribution_becomes_a_wheel(wheels, projects):
    assert set(wheels) == {project["name"] for project in projects.values()}


def test_every_extra_that_has_a_plugin_is_named_in_the_wheel_and_no_other(metadata, plugins):
    wanted = {extra for extra, stems in EXTRAS.items() if stems & plugins}
    assert set(metadata["codexmem"].get_all("Provides-Extra")) == wanted | {"all"}


def test_no_marker_is_written_in_a_way_that_pip_24_1_to_25_3_fails_on(metadata):
    """They take the right side for a version if it can be one, and then fail on a left side that cannot.

    So a name that looks like a version stands left of ``extra``, and every other name right of it: never are both sides
    of different kinds with the version on the right, whichever extra is asked for.
    """
    for line in metadata["codexmem"].get_all("Requires-Dist"):
        for left, right in re.findall(r"(\S+) == (\S+)$", line):
            name = (left if right == "extra" else right).strip("'")
            looks_like_a_version = re.fullmatch(r"v?\d+", name) is not None
            assert (right == "extra") == looks_like_a_version, line


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_an_extra_chooses_its_plugins_pinned(metadata, plugins, extra):
    version = metadata["codexmem"]["Version"]
    own = EXTRAS[extra] & plugins
    wanted = own | (ALONG.get(extra, set()) if own else set())
    assert chosen(metadata, extra) == {f"codexmem-{stem}=={version}" for stem in wanted}


def test_the_extra_all_lists_every_plugin_outright(metadata, plugins):
    version = metadata["codexmem"]["Version"]
    assert chosen(metadata, "all") == {f"codexmem-{stem}=={version}" for stem in plugins}


def test_siblings_are_pinned_to_the_one_version(metadata):
    versions = {each["Version"] for each in metadata.values()}
    assert len(versions) == 1
    for each in metadata.values():
        for line in each.get_all("Requires-Dist") or []:
            if line.startswith("codexmem"):
                assert line.split(";")[0].strip().endswith(f"=={next(iter(versions))}"), line


def test_all_distributions_share_licence_python_and_build_system(projects):
    assert {project["license"] for project in projects.values()} == {"Apache-2.0"}
    assert {project["requires-python"] for project in projects.values()} == {">=3.11"}
    builds = [tomllib.loads((folder / "pyproject.toml").read_text())["build-system"] for folder in projects]
    assert builds == [{"requires": ["hatchling"], "build-backend": "hatchling.build"}] * len(builds)


def test_a_plugin_has_one_stem(projects, root):
    for folder, project in projects.items():
        if folder.parent != root / "plugins":
            continue
        stem = folder.name
        assert project["name"] == f"codexmem-{stem.replace('_', '-')}"
        assert project["entry-points"]["codexmem"] == {stem.replace("_", "-"): f"codexmem_{stem}:plugin"}
        assert (folder / f"codexmem_{stem}" / "__init__.py").is_file()


def test_every_package_ships_its_types(wheels):
    for name, wheel in wheels.items():
        package = "codexmem_core" if name == "codexmem" else name.replace("-", "_")
        assert f"{package}/py.typed" in wheel.namelist()


def test_wheels_hold_nothing_but_their_package(wheels):
    for name, wheel in wheels.items():
        package = "codexmem_core" if name == "codexmem" else name.replace("-", "_")
        tops = {path.split("/")[0] for path in wheel.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {package}


def test_tools_know_every_plugin(root, plugins):
    tools = tomllib.loads((root / "pyproject.toml").read_text())["tool"]
    packages = {f"codexmem_{stem.replace('-', '_')}" for stem in plugins}
    assert packages <= set(tools["mypy"]["packages"])
    assert packages <= set(tools["importlinter"]["root_packages"])
    assert {f"codexmem-{stem}" for stem in plugins} <= set(tools["uv"]["sources"])
    for contract in tools["importlinter"]["contracts"]:
        members = {
            *contract.get("source_modules", []),
            *contract.get("forbidden_modules", []),
            *contract.get("modules", []),
        }
        if members & packages:
            assert packages <= members, contract["name"]


def test_no_lock_library_may_be_installed_that_follows_links(projects, root):
    needed = [Requirement(one) for one in projects[root]["dependencies"]]
    (locks,) = [one for one in needed if one.name == "filelock"]
    assert "3.20.2" not in locks.specifier, "it empties the file that a planted link leads to"
