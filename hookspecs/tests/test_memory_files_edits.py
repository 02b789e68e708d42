"""What a person writes into, changes in, or takes out of a memory's files."""

import pytest
from codexmem_hookspecs.memory_files.document import Section, merged, parse, render, users_own
from codexmem_hookspecs.memory_files.rewriting import File, rewritten
from codexmem_hookspecs.testing.memory import DictWorkspace
from hypothesis import given
from hypothesis import strategies as st


class Notebook:
    """A memory of one file that lists words, consolidated again and again."""

    def __init__(self):
        self.workspace = DictWorkspace("notebook", {})
        self.words = ["ash", "birch"]
        self.used = []

    def write(self):
        def build(used):
            self.used.append(used)
            trees = [f"- {word}" for word in self.words]
            return [Section(0, "", ["v1"]), Section(2, "Trees", trees), Section(2, "Stones")]

        written = rewritten(self.workspace, [File(path="trees.md", build=build)])
        self.workspace.files.update(written)
        return written

    @property
    def text(self):
        return self.workspace.files["trees.md"]

    @text.setter
    def text(self, text):
        self.workspace.files["trees.md"] = text


@pytest.fixture
def notebook():
    notebook = Notebook()
    notebook.write()
    return notebook


def test_writing_again_changes_nothing(notebook):
    assert notebook.write() == {}


def test_a_line_of_the_users_stays_under_its_heading_and_is_told_to_the_builder(notebook):
    notebook.text = notebook.text.replace("- ash\n", "- ash\n- my own oak\n")
    notebook.words.append("cedar")
    notebook.write()
    assert notebook.text == "v1\n\n## Trees\n\n- ash\n- birch\n- cedar\n- my own oak\n\n## Stones\n"
    assert notebook.used[-1] >= len("- my own oak")


def test_an_edited_line_stays_as_edited_and_a_removed_one_away(notebook):
    notebook.text = notebook.text.replace("- ash", "- a young ash").replace("- birch\n", "")
    notebook.words.append("cedar")
    notebook.write()
    assert notebook.text.count("ash") == 1
    assert "- a young ash" in notebook.text
    assert "birch" not in notebook.text
    assert "- cedar" in notebook.text


def test_sections_can_be_completed_after_the_users_removals(notebook):
    def complete(sections):
        return [section for section in sections if section.lines and any(map(str.strip, section.lines))]

    file = File(path="trees.md", build=lambda _used: parse("v1\n\n## Trees\n\n- ash\n\n## Stones\n"), complete=complete)
    empty = DictWorkspace("notebook", {})
    assert rewritten(empty, [file])["trees.md"] == "v1\n\n## Trees\n\n- ash\n"


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30)))
def test_no_line_of_a_users_own_section_is_ever_lost_or_doubled(lines):
    notebook = Notebook()
    notebook.write()
    notebook.text += "\n## Mine\n\n" + "\n".join(f"mine {number} {line}" for number, line in enumerate(lines)) + "\n"
    notebook.words.append("cedar")
    for _ in range(2):
        notebook.write()
        for number, line in enumerate(lines):
            assert notebook.text.count(f"mine {number} {line}\n") == 1


def test_unknown_sections_go_behind_their_parent():
    generated = parse("# A\n\n## One\n\n- x\n\n# B\n\n- y\n")
    own = users_own("# A\n\n## Mine\n\n- z\n\n# C\n\n- w\n", frozenset())
    assert render(merged(generated, own)) == "# A\n\n## One\n\n- x\n\n## Mine\n\n- z\n\n# B\n\n- y\n\n# C\n\n- w\n"
