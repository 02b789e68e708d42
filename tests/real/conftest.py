"""A machine for each test, with the programs that were asked for; offline, and no process left behind."""

from contextlib import ExitStack
from functools import cache

import pytest
from realhosts.claude_code import ClaudeCode
from realhosts.codex_cli import CodexCli
from realhosts.machine import Machine
from realhosts.offline import Offline
from realhosts.opencode import OpenCode
from realhosts.openviking import OpenViking
from realhosts.programs import named, needed, program

HOSTS = {host.name: host for host in (CodexCli, ClaudeCode, OpenCode)}
ANY = {name: tuple(HOSTS) for name in ("bare_host", "host", "first", "second")} | {"quick_host": ("codex", "claude")}
"""Fixtures that stand for each of these hosts in turn."""
SERVER, SERVER_FIXTURE = "ov", "openviking"
"""The server's name in --real, and the fixture that all of its tests have."""


def pytest_configure(config):
    if not config.getoption("--real"):
        raise pytest.UsageError(
            "tests/real needs the programs: python3 contrib/dev.py test --real=codex,claude,opencode,ov"
        )
    try:
        for name in needed(config.getoption("--real")):
            program(name)
    except (ValueError, FileNotFoundError) as error:
        raise pytest.UsageError(str(error)) from error
    config.addinivalue_line("markers", "before_others: begins something that takes a while by itself")
    config.addinivalue_line("markers", "after_others: waits for it")
    config.offline = Offline()


def pytest_report_header(config):
    return "network: loopback only" if config.offline.enforced else "network: not cut off (that needs root on Linux)"


def available(config, fixtures):
    """The programs that a test may have: a server's tests get the agent that it is tested with."""
    asked = config.getoption("--real")
    return needed(asked) if SERVER_FIXTURE in fixtures else named(asked)


def pytest_generate_tests(metafunc):
    there = available(metafunc.config, metafunc.fixturenames)
    for name, hosts in ANY.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [host for host in hosts if host in there] or [None], indirect=True)


def pytest_collection_modifyitems(config, items):
    """Tests of a program are left out with it; where there is no agent, those of any agent. What waits waits last."""

    def is_possible(item):
        fixtures = set(getattr(item, "fixturenames", ()))
        there = available(config, fixtures)
        without = set(HOSTS) - set(there)
        left_out = without | {f"{state}_{name}" for name in without for state in ("bare", "left")}
        left_out |= set() if SERVER in there else {SERVER_FIXTURE}
        left_out |= set() if set(HOSTS) - without else {"hosts"}
        of_any = getattr(item, "callspec", None)
        return not fixtures & left_out and not (of_any and None in of_any.params.values())

    kept = [item for item in items if is_possible(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = sorted(kept, key=lambda item: _place(item.own_markers))


def _place(markers):
    names = {mark.name for mark in markers}
    return ("after_others" in names) - ("before_others" in names)


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
def quick_host(request, host_named):
    """Each host in turn of which a turn takes no more than a second or two."""
    return host_named(request.param)


@pytest.fixture
def hosts(pytestconfig, host_named):
    """All of them on one machine."""
    return [host_named(name) for name in named(pytestconfig.getoption("--real")) if name in HOSTS]


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


@pytest.fixture(scope="session")
def openviking(tmp_path_factory):
    """The one server of all tests."""
    with OpenViking(program(SERVER), tmp_path_factory.mktemp("openviking") / "server") as server:
        yield server


@pytest.fixture
def account(openviking):
    """An account on it of the test's own; its models work again after each test."""
    yield openviking.account()
    openviking.models.script.clear()


@pytest.fixture
def ov(account, machine):
    """The same, and the test's machine belongs to its user."""
    machine.belongs_to(account)
    return account
