"""One setting in the user's file, and not another byte."""

import os
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.config_file import SettingsFileError, set_value


@pytest.fixture
def written(tmp_path):
    """What the file holds after the setting was written."""

    def write(text, value="v2"):
        path = tmp_path / "config.toml"
        path.write_bytes(text.encode())
        set_value(str(path), "memories", "read", value)
        return path.read_bytes().decode()

    return write


def test_a_file_that_is_not_there_is_made_with_its_folder(tmp_path):
    path = tmp_path / "new" / "config.toml"
    set_value(str(path), "memories", "read", "v2")
    assert path.read_text() == '[memories]\nread = "v2"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# mine\n", '# mine\n\n[memories]\nread = "v2"\n'),
        ('[models]\nmodel = "x"', '[models]\nmodel = "x"\n\n[memories]\nread = "v2"\n'),
        ("[memories]\nuse_memories = true\n", '[memories]\nread = "v2"\nuse_memories = true\n'),
        ("[memories]", '[memories]\nread = "v2"\n'),
        (
            '[ memories ] # all\nread = "v1" # for now\n\n[models]\nread = "x"\n',
            '[ memories ] # all\nread = "v2"  # for now\n\n[models]\nread = "x"\n',
        ),
        ("[memories]\r\n  read='v1'\r\n", '[memories]\r\nread = "v2"\r\n'),
        ('[memories]\nversion = "v1"\nhome = "/h"\n', '[memories]\nversion = "v2"\nhome = "/h"\n'),
        ('[memories]\nread = "v1"\nversion = "v1"\n', '[memories]\nread = "v2"\nversion = "v2"\n'),
        ('[memories]\nread = "v2"\n', '[memories]\nread = "v2"\n'),
        (
            '[models]\nnote = """\n[memories]\nread = "v1"\n"""\n',
            '[models]\nnote = """\n[memories]\nread = "v1"\n"""\n\n[memories]\nread = "v2"\n',
        ),
    ],
)
def test_the_one_line_is_changed_or_added(written, before, after):
    assert written(before) == after


@pytest.mark.parametrize(
    "text",
    ['memories = { read = "v1" }\n', 'memories.read = "v1"\n', "memories = 3\n", "[memories\n", "[[memories]]\n"],
)
def test_what_cannot_be_changed_safely_is_left_and_the_line_is_told(written, tmp_path, text):
    with pytest.raises(SettingsFileError, match="is not changed") as told:
        written(text)
    assert 'write it yourself: below [memories], read = "v2"' in str(told.value)
    assert (tmp_path / "config.toml").read_text() == text


def test_a_file_behind_a_link_is_changed_where_it_lies(tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    set_value(str(link), "memories", "read", "v2")
    assert link.is_symlink()
    assert 'read = "v2"' in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_file_that_may_not_be_written_is_told(tmp_path):
    folder = tmp_path / "config.toml"
    folder.mkdir()
    with pytest.raises(SettingsFileError, match="write it yourself"):
        set_value(str(folder), "memories", "read", "v2")


lines = st.sampled_from(
    [
        "# a comment", "", "[memories]", "[models]", "[[things]]", 'read = "v1"', "read = 'v1' # why", 'version = "v1"',
        'model = """', '"""', "use_memories = true", "disabled = [", "]", '"read" = "x"', "memories.read = 'v1'",
        "[memories.more]", "[", "\u8bbe = 1", 'x = "[memories]"',
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, max_size=8), st.sampled_from(["\n", "\r\n"]), st.text(max_size=8))
def test_whatever_the_file_holds_only_that_setting_changes_or_nothing_does(tmp_path, some, ending, value):
    path = tmp_path / "config.toml"
    text = ending.join(some)
    path.write_bytes(text.encode())
    try:
        set_value(str(path), "memories", "read", value)
    except (SettingsFileError, UnicodeEncodeError):
        assert path.read_bytes() == text.encode()
        return
    before, after = tomllib.loads(text), tomllib.loads(path.read_bytes().decode())
    held = after.pop("memories")
    said = {key: held.pop(key) for key in ("read", "version") if key in held}
    assert set(said.values()) == {value}
    assert held == {key: part for key, part in before.get("memories", {}).items() if key not in ("read", "version")}
    before.pop("memories", None)
    assert after == before
    assert not [name for name in os.listdir(tmp_path) if name != "config.toml"]
