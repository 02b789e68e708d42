"""A word that is no command is told with the one that was meant."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from codexmem_core.cli import codexmem


@pytest.mark.parametrize(("typed", "told"), [("stauts", "Did you mean status?"), ("xyzzy", "No such command 'xyzzy'.")])
def test_a_mistyped_command_is_told_with_the_one_that_was_meant(typed, told, tmp_path):
    done = CliRunner().invoke(codexmem, ["--home", str(tmp_path), "--config", str(tmp_path / "config.toml"), typed])
    assert done.exit_code == 2
    assert done.output.rstrip().endswith(told)
