"""README's three lines for each host, word by word."""

import os
import re

import pytest
from realhosts.checkout import Checkout, lines_for


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("user"))


def test_after_the_three_lines_the_next_session_knows_what_was_said(bare_host, machine, checkout, offline):
    install, setup, session = lines_for(bare_host.name)
    environ = checkout.environ([bare_host.program.parent], bare_host.environ)
    checkout.type(install, os.environ | checkout.environ([], {"PATH": environ["PATH"]}), before=offline.reach_out)
    checkout.type(setup, environ)
    checkout.type(session, environ)
    fact = re.search(r"""["']([^"']+)["']$""", session)[1]
    machine.until_known(fact, bare_host)
    assert fact in bare_host.say("What shall we do?").told
