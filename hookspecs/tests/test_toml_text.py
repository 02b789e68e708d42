"""Tables of TOML text come and go, and the rest keeps its form."""

import tomllib

import pytest
from codexmem_hookspecs.toml_text import OtherFormError, renamed, with_table, without_tables
from hypothesis import given
from hypothesis import strategies as st

OURS = ("hooks", "state", '/a "quoted" [place]/hooks.json:stop:0:0')
PIECES = st.sampled_from(
    [
        "# a comment [not.a.header]\n",
        "\n",
        "[tui]\n",
        '[profiles."a.b"]  # mine\nx = 1\n',
        'text{n} = """\n[not.a.header]\nstill \\"""\ntext"""""\n',
        "plain{n} = '''\n[[nor.this]]\n'''\n",
        "list{n} = [\n  1, # ]\n  [2],\n]\n",
        "inline{n} = { a = '[', b = \"]\" }\n",
        "[[hooks.Stop]]\n",
        "[[hooks.Stop.hooks]]\ncommand{n} = 'x'\n",
        '[hooks.state."/other:stop:0:{n}"]\ntrusted_hash = "sha256:1"\nenabled = false\n',
        "[ spaced . header{n} ]\n",
        "date{n} = 2026-11-30T10:00:00Z\n",
    ]
)


@st.composite
def documents(draw):
    """TOML as people write it; pieces that do not fit together are left out."""
    text = ""
    for number, piece in enumerate(draw(st.lists(PIECES, max_size=12))):
        more = text + piece.replace("{n}", str(number))
        try:
            tomllib.loads(more)
        except tomllib.TOMLDecodeError:
            continue
        text = more
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(documents())
def test_a_table_that_was_added_stands_there_and_taken_out_leaves_every_byte(text):
    added = with_table(text, OURS, {"trusted_hash": "sha256:2", "list": ["a", 'b"\x7f\n']})
    before, after = tomllib.loads(text), tomllib.loads(added)
    assert after["hooks"]["state"].pop(OURS[-1]) == {"trusted_hash": "sha256:2", "list": ["a", 'b"\x7f\n']}
    assert after["hooks"].pop("state") == before.get("hooks", {}).pop("state", {})
    assert after.pop("hooks") == before.pop("hooks", {})
    assert after == before
    assert added.startswith(text)
    assert without_tables(added, OURS) == text


@given(documents(), st.text(max_size=8))
def test_a_key_that_changes_changes_nothing_else(text, value):
    added = with_table(text, OURS, {"trusted_hash": "sha256:2"})
    changed = with_table(added, OURS, {"trusted_hash": value})
    assert with_table(changed, OURS, {"trusted_hash": "sha256:2"}) == added


@given(documents())
def test_a_renamed_table_keeps_its_keys(text):
    added = with_table(text, OURS, {"trusted_hash": "sha256:2"})
    other = (*OURS[:2], "/elsewhere:stop:1:0")
    moved = renamed(added, OURS, other)
    assert tomllib.loads(moved)["hooks"]["state"][other[-1]] == {"trusted_hash": "sha256:2"}
    assert renamed(moved, other, OURS) == added


def test_tables_below_go_with_the_table_and_comments_stay():
    text = "[a.b]\nx = 1\n# about c\n[a.b.c]\ny = 2\n\n# about d\n[d]\n[[a.b.e]]\nz = 3\n"
    assert without_tables(text, ("a", "b")) == "# about c\n\n# about d\n[d]\n"


@pytest.mark.parametrize(
    "text",
    [
        "hooks = { state = {} }\n",
        "hooks = 3\n",
        "[[hooks]]\n",
        '[hooks]\nstate = { "x" = { trusted_hash = "1" } }\n',
    ],
)
def test_what_is_said_in_another_form_is_left_alone(text):
    with pytest.raises(OtherFormError, match="hooks"):
        with_table(text, OURS, {"trusted_hash": "1"})


def test_a_key_in_an_inline_table_is_not_renamed_or_taken_out():
    text = '[hooks]\nstate = { "x" = { trusted_hash = "1" } }\n'
    with pytest.raises(OtherFormError):
        renamed(text, ("hooks", "state", "x"), ("hooks", "state", "y"))
    with pytest.raises(OtherFormError):
        without_tables(text, ("hooks", "state", "x"))
