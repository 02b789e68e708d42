"""The page for users names every variable that is read, and every one that is left."""

import re
from pathlib import Path

from codexmem_ov_commit.knobs import KNOBS
from codexmem_ov_commit.settings import KEY_VARIABLES, SERVER_VARIABLES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "openviking.md").read_text()
OURS = {"OPENVIKING_API_KEY_ENV"}
"""Variables that OpenViking's plugin does not have."""


def test_the_page_names_every_variable_that_is_read_and_why_others_are_left():
    taken, left = PAGE.split("## Variables of OpenViking's own plugin")[1].split("These are left:")
    variables = {name for knob in KNOBS for name in knob.variables} | {*SERVER_VARIABLES, *KEY_VARIABLES}
    assert set(re.findall(r"`(OPENVIKING_[A-Z_]+)`", taken)) == variables - OURS
    assert not set(re.findall(r"`(OPENVIKING_[A-Z_]+)`", left)) & variables
