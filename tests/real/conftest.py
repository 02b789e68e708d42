"""A machine for each test, with the agents that were asked for; offline, and no process left behind."""

from contextlib import ExitStack
from functools import cache

import pytest
from realhosts.claude_code import ClaudeCode
from realhosts.codex_cli import CodexCli
from realhosts.machine import Machine
from realhosts.offline import Offline
from realhosts.opencode import OpenCode
from realhosts.programs import named, program

HOSTS = {host.name: host for host in (CodexCli, ClaudeCode, OpenCode)}
ANY = ("bare_host", "host", "first", "second")
"""Fixtures that stand for each of the hosts in turn."""


def pytest_configure(config):
    if not config.getoption("--real"):
        raise pytest.UsageError("tests/real needs the agents: python3 contrib/dev.py test --real=codex,claude,opencode")
    try:
        for name in named(config.getoption("--real")):
            program(name)
    except (ValueError, FileNotFoundError) as error:
        raise pytest.UsageError(str(error)) from error
    config.offline = Offline()


def pytest_report_header(config):
    return "network: loopback only" if config.offline.enforced else "network: not cut off (that needs root on Linux)"


def pytest_generate_tests(metafunc):
    for name in ANY:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, named(metafunc.config.getoption("--real")), indirect=True)


def pytest_collection_modifyitems(config, items):
    """Tests of one host are left out with it."""
    without = set(HOSTS) - set(named(config.getoption("--real")))
    left_out = without | {f"bare_{name}" for name in without}
    kept = [item for item in items if not left_out & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture
def offline(pytestconfig):
    return pytestconfig.offline


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path / "machine")
    yield machine
    machine.shut_down()


@pytest.fixture
def host_named(machine):
    """A host by its name, set up with codexmem; one of a name."""
    with ExitStack() as started:

        @cache
        def get(name):
            host = started.enter_context(HOSTS[name](machine, program(name)))
            machine.codexmem("setup", name, "--yes")
            return host

        yield get


@pytest.fixture
def bare_host(request, machine):
    """Each host in turn, without codexmem."""
    with HOSTS[request.param](machine, program(request.param)) as host:
        yield host


@pytest.fixture
def bare_claude(machine):
    """Claude Code without codexmem."""
    with ClaudeCode(machine, program("claude")) as host:
        yield host


@pytest.fixture
def host(request, host_named):
    """Each host in turn."""
    return host_named(request.param)


@pytest.fixture
def hosts(pytestconfig, host_named):
    """All of them on one machine."""
    return [host_named(name) for name in named(pytestconfig.getoption("--real"))]


@pytest.fixture
def first(request, host_named):
    """The host that is told something."""
    return host_named(request.param)


@pytest.fixture
def second(request, host_named):
    """The host that should know it."""
    return host_named(request.param)


@pytest.fixture
def codex(host_named):
    return host_named("codex")


@pytest.fixture
def claude(host_named):
    return host_named("claude")


@pytest.fixture
def opencode(host_named):
    return host_named("opencode")
