"""What README and its neighbours promise is there."""

import ast
import re

import pytest

from codexmem_core import config as configuration
from codexmem_core.projects import ProjectRules, Projects

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/privacy.md",
    "docs/memories.md",
    "docs/exchange.md",
    "contrib/README.md",
    "contrib/example_host/README.md",
)


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def mapped(readme):
    """Folders of the two tables of the map."""
    return re.findall(r"^\| [^|]+ \| `([\w/]+)` \|", readme, re.MULTILINE)


def test_the_map_names_folders_that_exist_each_with_a_docstring(readme, root):
    folders = mapped(readme)
    assert len(folders) >= 12
    for folder in folders:
        docstring = ast.get_docstring(ast.parse((root / folder / "__init__.py").read_text(encoding="utf-8")))
        assert docstring, folder


def test_the_map_names_every_package_of_the_engine_and_every_plugin(readme, root):
    packages = {str(path.parent.relative_to(root)) for path in root.glob("codexmem_core/*/__init__.py")}
    packages |= {str(path.parent.relative_to(root)) for path in root.glob("plugins/*/codexmem_*/__init__.py")}
    assert packages <= set(mapped(readme))


def test_the_extras_of_the_table_are_those_of_the_distribution(readme, projects, root):
    table = readme.partition("| extra | gives |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(projects[root]["optional-dependencies"])


def test_whoever_installs_from_the_checkout_is_told_every_folder_that_the_extras_need(readme, projects, root):
    lines = re.findall(r"^pip install '\./\[([\w,]+)\]'(.*)$", readme, re.MULTILINE)
    assert lines
    folders = {project["name"]: f"./{folder.relative_to(root)}" for folder, project in projects.items()}
    for extras, named in lines:
        needed = {"codexmem-hookspecs"}
        for extra in extras.split(","):
            needed |= {requirement.partition("==")[0] for requirement in required(projects[root], extra)}
        assert set(named.split()) == {folders[name] for name in needed}, extras


def required(project, extra):
    """What an extra adds, whichever way it is written."""
    turned_round = [text for text in project["dependencies"] if f"'{extra}' == extra" in text]
    return project["optional-dependencies"][extra] + [text.partition(";")[0] for text in turned_round]


@pytest.mark.parametrize("page", PAGES)
def test_nobody_is_told_to_install_the_name_without_our_version(root, page):
    text = (root / page).read_text(encoding="utf-8")
    for line in re.findall(r"^.*\b(?:pip|pipx|uv|uvx)\b.*$", text, re.MULTILINE):
        for requirement in re.findall(r"(?<![\w./-])codexmem(?:\[[\w,]+\])?(?![\w./-])\S*", line):
            assert "==" in requirement, line


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(root, page):
    folder = (root / page).parent
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", (root / page).read_text(encoding="utf-8")):
        assert (folder / target).exists(), target


def test_the_commands_that_the_pages_name_are_commands_of_dev(root):
    source = (root / "contrib" / "dev.py").read_text(encoding="utf-8")
    for page in PAGES:
        for command in re.findall(r"contrib/dev\.py (\w+)", (root / page).read_text(encoding="utf-8")):
            assert f"\ndef {command}(" in source, command


def test_the_settings_that_the_page_about_privacy_shows_are_understood(root, tmp_path):
    text = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    project, user = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "config.toml").write_text(user)
    (tmp_path / ".codexmem.toml").write_text(project)
    config = configuration.load(str(tmp_path / "config.toml"), {"HOME": str(tmp_path)})
    projects = Projects(lambda: config, {"HOME": str(tmp_path)})
    assert (*config.warnings, *projects.setting_warnings) == ()
    assert projects.rules(str(tmp_path)) == ProjectRules(memory="off", place=str(tmp_path / ".codexmem.toml"))
    for memory in ("read_only", "no_context"):
        assert f'memory = "{memory}"' in project
    assert projects.rules("/srv/clients/a/legal").memory == "off"
