"""``doctor`` and ``status`` say how OpenCode is reached, and what to do where it is not."""

import pytest
from codexmem_host_opencode import plugin
from fake_opencode2 import FakeOpenCode2

CHECKS = {check.name: check for check in plugin.codexmem_doctor_checks()}


@pytest.fixture
def says(opencode):
    """(level, message, fix) of a check."""
    return lambda name: [(one.level, one.message, one.fix) for one in CHECKS[name].run(opencode.services)]


def test_both_are_shown_by_status_as_well():
    assert all(check.in_status for check in CHECKS.values())


def test_where_opencode_was_never_seen_nothing_is_said(opencode, says):
    opencode.uninstall()
    assert (says("opencode"), says("opencode-2")) == ([], [])


def test_a_server_that_answers_is_enough(served, says):
    served.uninstall()
    assert says("opencode") == []


def test_a_program_is_enough_also_when_the_one_that_was_seen_has_moved(opencode, says, tmp_path):
    opencode.saw(tmp_path, url="http://127.0.0.1:9/")
    opencode.install()
    del opencode.services.settings["program"]
    assert says("opencode") == []
    opencode.program.rename(tmp_path / "elsewhere")
    opencode.services.environ["PATH"] = str(tmp_path)
    ((level, message, fix),) = says("opencode")
    assert (level, message.endswith("and there is no program opencode")) == ("warn", True)
    (tmp_path / "elsewhere").rename(tmp_path / "opencode")
    assert says("opencode") == []
    assert "PATH" in fix


def test_neither_server_nor_program_is_named_with_its_fix(opencode, says, tmp_path):
    opencode.saw(tmp_path, url="http://127.0.0.1:9/")
    opencode.uninstall()
    ((level, message, fix),) = says("opencode")
    assert level == "warn"
    assert "OpenCode cannot be reached: no server answers at http://127.0.0.1:9/, and there is no program" in message
    assert fix == "make sure that opencode is on PATH, or set [host-opencode] program to where it is"
    opencode.install()
    assert says("opencode") == []


def test_an_opencode_2_in_the_place_of_opencode_1_is_not_run_as_that(opencode, service, says, tmp_path):
    opencode.saw(tmp_path)
    opencode.install()
    del opencode.services.settings["program"]
    opencode.services.environ["PATH"] = str(tmp_path)
    opencode.saw("/home/user/proj", name="proj.2", hours_ago=0, generation=2, pid=service.pid)
    service.put("ses_1")
    assert [one.id for one in opencode.sessions()] == ["ses_1"]
    assert (opencode.calls, opencode.services.log.warnings) == ([], [])
    assert [level for level, _, _ in says("opencode")] == ["info"]


def test_opencode_2_is_said_to_be_unverified_with_what_is_chosen(served, service, says):
    served.saw("/home/user/proj", name="proj.2", hours_ago=0, generation=2, pid=service.pid)
    ((level, message, _),) = says("opencode-2")
    assert level == "info"
    assert message.startswith("OpenCode 2 (unverified against the real program): service http://127.0.0.1:")
    assert message.endswith("version 2.0.20: its sessions are read, and asked for models")
    served.saw("/home/user/other", url=served.server.url, hours_ago=-1, name="other")
    assert says("opencode-2")[0][1].endswith("and OpenCode 1 is asked for models")


def test_a_service_that_is_not_there_is_unavailable_and_what_is_left_is_said(opencode, service, says):
    (service.state / "service.json").unlink()
    ((level, message, fix),) = says("opencode-2")
    assert level == "warn"
    assert "(unverified against the real program): unavailable: no service of OpenCode 2 is registered;" in message
    assert message.endswith("nothing of it is read")
    assert "idle" not in message
    assert "start OpenCode 2" in fix
    with FakeOpenCode2() as process:
        place = {"url": process.url, "token": "secret"}
        opencode.saw("/home/user/proj", name="proj.2", generation=2, location=place)
        assert says("opencode-2")[0][1].endswith("1 of its processes tell what they saw")
