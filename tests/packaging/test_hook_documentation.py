"""HOOKS.md says what the contract says, and every hook has a test."""

import inspect
import subprocess
import sys

import pytest
from codexmem_hookspecs.specs import GROUPS, REQUIRED

HOOKS = {
    name: function
    for group in GROUPS
    for name, function in vars(group).items()
    if name.startswith("codexmem_") and inspect.isfunction(function)
}


@pytest.fixture(scope="module")
def page(root):
    return (root / "HOOKS.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def test_texts(root):
    """The text of every test but this folder's."""
    folders = [root / "tests", root / "hookspecs" / "tests", *root.glob("plugins/*/tests")]
    files = [path for folder in folders for path in folder.rglob("test_*.py") if path.parent.name != "packaging"]
    return [path.read_text(encoding="utf-8") for path in files]


def test_the_page_is_what_the_generator_writes(root):
    done = subprocess.run(
        [sys.executable, str(root / "contrib" / "hooks_doc.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_a_hook_is_documented_with_its_exact_signature_and_kind(page, name):
    signature = inspect.signature(HOOKS[name])
    arguments = [
        each.name if each.name == "self" else f"{each.name}: {each.annotation}"
        for each in signature.parameters.values()
    ]
    section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    assert f"\n{name}({', '.join(arguments)}) -> {signature.return_annotation}\n" in section
    kind, text = inspect.getdoc(HOOKS[name]).split(": ", 1)
    assert f"\nKind {kind}, " in section
    assert text.splitlines()[0].replace("``", "`") in section


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_a_hook_has_a_test_that_names_it(test_texts, name):
    assert any(name in text for text in test_texts)


def test_required_hooks_exist():
    for first, others in REQUIRED.items():
        assert {first, *others} <= set(HOOKS)
