"""contrib/bench beside another memory's plugin: two short scripts, which the interpreter runs in place of node."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAPTURE = """
import json, os, subprocess, sys, time
if "APART" in os.environ:
    with open(os.environ.get("OPENVIKING_DEBUG_LOG", os.devnull), "w") as log:
        log.write('{"stage":"start"}')
    time.sleep(600)
    sys.exit()
json.load(sys.stdin)
apart = {**os.environ, "APART": "1"}
worker = subprocess.Popen(
    [sys.executable, __file__], env=apart, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
)
with open(os.path.join(os.path.dirname(__file__), "left"), "a") as left:
    print(worker.pid, os.environ["HOME"], file=left)
print("{}")
"""
"""Its worker stays, far longer than a test, until it is ended."""
RECALL = """
import json, os, sys, urllib.request
prompt = json.load(sys.stdin)["prompt"]
asked = urllib.request.Request(os.environ["OPENVIKING_URL"] + "/search", json.dumps(prompt).encode())
try:
    print(json.load(urllib.request.urlopen(asked, timeout=60))["result"]["rendered"])
except OSError:
    print("{}")
"""
KEYS = ("hook-stop-openviking", "recall-openviking", "recall-openviking-dead")


def write_plugin(folder, *, recall=RECALL, capture=CAPTURE):
    """What the bench looks for."""
    scripts = folder / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "auto-capture.mjs").write_text(capture)
    (scripts / "auto-recall.mjs").write_text(recall)
    return folder


def measure(root, plugin, only):
    """The figures' lines by their keys."""
    beside = ["--openviking-plugin", str(plugin), "--node", sys.executable]
    done = subprocess.run(
        [sys.executable, str(root / "contrib" / "bench"), "--quick", "--only", only, *beside],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith(KEYS)}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    return write_plugin(tmp_path_factory.mktemp("bench") / "plugin")


@pytest.fixture(scope="module")
def lines(root, plugin):
    """Everything measured once beside it."""
    return measure(root, plugin, "hook-stop-openviking,recall-openviking")


@pytest.fixture
def left(plugin, lines):
    """Id and home of every worker that the plugin has left behind."""
    assert lines
    return [line.split() for line in (plugin / "scripts" / "left").read_text().splitlines()]


def is_alive(pid, home):
    try:
        return f"HOME={home}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def test_each_figure_beside_the_plugin_gets_a_value(lines):
    assert set(lines) == set(KEYS)
    assert all(float(line.split()[1]) > 0 for line in lines.values())


def test_no_worker_of_the_plugin_outlives_the_bench(left):
    assert len(left) > 1
    assert not [pid for pid, home in left if is_alive(pid, home)]


def test_the_plugin_has_a_home_of_its_own_that_is_gone_afterwards(left):
    homes = {home for _, home in left}
    assert os.environ.get("HOME") not in homes
    assert not [home for home in homes if os.path.exists(home)]


def test_a_folder_without_the_plugins_scripts_fails_every_figure_with_the_missing_file(root, tmp_path):
    missing = tmp_path / "scripts" / "auto-capture.mjs"
    lines = measure(root, tmp_path, ",".join(KEYS))
    assert set(lines) == set(KEYS)
    assert all(f"{missing} is not there" in line and " FAILED " in line for line in lines.values())


def test_a_plugin_that_recalls_nothing_is_not_measured(root, tmp_path):
    lines = measure(root, write_plugin(tmp_path / "plugin", recall="print('{}')"), "recall-openviking")
    assert "FAILED" in lines["recall-openviking"]
    assert "the plugin printed no recall" in lines["recall-openviking"]


def test_a_plugin_that_leaves_no_worker_is_not_measured(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "contrib" / "bench"))
    from codexmem_bench import bench, hooks, openviking_plugin

    folder = write_plugin(tmp_path / "plugin", capture="print('{}')")
    peers = {openviking_plugin.PEER: folder}
    made = bench.Bench(scratch=tmp_path, sizes=bench.QUICK, peers=peers, node_program=Path(sys.executable))
    sent = made.once("hooks", hooks.Installed).sent("Stop")
    with pytest.raises(RuntimeError, match="left no worker"):
        openviking_plugin.Plugin(made).see_it_capture(sent, within_s=0.1)
