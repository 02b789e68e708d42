"""A killed process or a full disk at any instant leaves the previous baseline or the new one, and nothing between."""

import os
import signal
import subprocess
import sys
import time

import pytest

from codexmem_core.consolidate.baseline import Baseline, _read
from codexmem_core.safety.files import GuardedFolder

SECRET = "marigold-7731"

# Two commits, a fold and a squash; killed at the n-th named instant, or, without a number, listing all of them.
WORK = """
import os, signal, sys
root, when = sys.argv[1], int(sys.argv[2])
reached = []
def hook(event, args):
    if event == "codexmem.instant":
        reached.append(args[0])
        if len(reached) == when:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from codexmem_core.consolidate.baseline import Baseline
class Clock:
    def now_ms(self): return 1_780_000_000_000
def put(path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
    with open(os.path.join(root, path), "w") as file:
        file.write(text)
baseline = Baseline(root, Clock())
baseline.ensure()
put("MEMORY.md", "one SECRET\\n")
put("extensions/ad_hoc/notes/n.md", "note\\n")
baseline.commit("first", seen=baseline.diff())
put("MEMORY.md", "two SECRET\\n")
baseline.commit("second")
baseline.fold(keep=2)
put("MEMORY.md", "three\\n")
baseline.squash("forgotten")
print("\\n".join(reached))
""".replace("SECRET", SECRET)

STATES = {
    "memory baseline: empty": None,
    "first": f"one {SECRET}\n",
    "second": f"two {SECRET}\n",
    "forgotten": "three\n",
}


def run(root, when):
    return subprocess.run(
        [sys.executable, "-c", WORK, str(root), str(when)], capture_output=True, text=True, check=False
    )


def test_a_kill_at_any_named_instant_leaves_a_usable_baseline(tmp_path, make_git, clock):
    everything = tmp_path / "whole" / "memories"
    everything.mkdir(parents=True)
    done = run(everything, 0)
    assert done.returncode == 0, done.stderr
    instants = done.stdout.split("\n")[:-1]
    assert {f"baseline:{label}:{side}" for label in LABELS for side in ("before", "after")} <= set(instants)
    interesting = [number for number, name in enumerate(instants, 1) if name.startswith("baseline:")]
    # The renames between them are all of one kind; every third is enough.
    interesting += [number for number, name in enumerate(instants, 1) if not name.startswith("baseline:")][::3]

    for number in interesting:
        root = tmp_path / f"at-{number}" / "memories"
        root.mkdir(parents=True)
        killed = run(root, number)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        told = f"killed at {instants[number - 1]} (instant {number})"
        check_usable(root, clock, make_git(root), told)


LABELS = ("create", "commit", "index", "fold", "squash", "forget")


def check_usable(root, clock, git, told):
    baseline = Baseline(str(root), clock, patience_s=1.0)
    started = (root / ".git").exists()
    assert baseline.ensure() == ("kept" if started else "created"), told
    git.check()
    newest = baseline.history()[0].message
    known = STATES[newest]
    if known is not None:
        assert git("show", "HEAD:MEMORY.md") == known, told
    now = (root / "MEMORY.md").read_text() if (root / "MEMORY.md").exists() else None
    pending = "MEMORY.md" in [change.path for change in baseline.diff().changes]
    assert pending == (now != known), told
    if newest == "forgotten":
        objects = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
        ids = "".join(line.split()[0] + "\n" for line in objects)
        assert SECRET not in git("cat-file", "--batch", stdin=ids.encode()), told
    # And work goes on.
    (root / "MEMORY.md").write_text("after the crash\n")
    baseline.commit("after")
    baseline.fold(keep=1)
    assert baseline.diff().changes == (), told
    git.check()


def test_a_squash_that_was_killed_before_it_moved_anything_is_finished_by_ensure(tmp_path, make_git, clock):
    root = tmp_path / "killed" / "memories"
    root.mkdir(parents=True)
    instants = run_listing(tmp_path)
    when = instants.index("baseline:squash:before") + 1
    assert run(root, when).returncode == -signal.SIGKILL
    git = make_git(root)
    assert git("show", "HEAD:MEMORY.md") == f"two {SECRET}\n"

    baseline = Baseline(str(root), clock)
    assert baseline.ensure() == "kept"

    assert [entry.message for entry in baseline.history()] == ["forgotten"]
    objects = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    ids = "".join(line.split()[0] + "\n" for line in objects)
    assert SECRET not in git("cat-file", "--batch", stdin=ids.encode())


def run_listing(tmp_path):
    root = tmp_path / "listing" / "memories"
    root.mkdir(parents=True)
    return run(root, 0).stdout.split("\n")


FULL_DISK = """
import resource, signal, sys
root = sys.argv[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from codexmem_core.consolidate.baseline import Baseline
class Clock:
    def now_ms(self): return 1_780_000_000_000
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    Baseline(root, Clock()).commit("too much")
except OSError as error:
    print("failed cleanly:", error)
"""


def test_a_full_disk_fails_the_commit_and_keeps_the_previous_baseline(baseline, put, root, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    first = baseline.commit("first")
    put({"MEMORY.md": "two\n", "big.md": os.urandom(50_000)})

    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(root)], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("failed cleanly:")
    assert git("rev-parse", "HEAD").strip() == first
    git.check()
    assert [change.path for change in baseline.diff().changes] == ["MEMORY.md", "big.md"]
    baseline.commit("second")
    assert baseline.diff().changes == ()


MEANWHILE = {
    "renamed to and fro": """
    os.rename("a.md", "b.md")
    os.rename("b.md", "a.md")
""",
    "replaced": """
    with open("a.md.new", "w") as file:
        file.write("text")
    os.rename("a.md.new", "a.md")
""",
    "moved with its folder": """
    os.rename("folder", "other")
    os.rename("other", "folder")
""",
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_another_process_does_meanwhile_stops_nothing(baseline, root, git, what):
    # Case 46: one process renames or replaces a file while another one diffs and commits.
    baseline.ensure()
    (root / "a.md").write_text("text\n")
    (root / "folder").mkdir()
    (root / "folder/c.md").write_text("text\n")
    program = "import os, sys\nos.chdir(sys.argv[1])\nwhile True:" + MEANWHILE[what]
    other = subprocess.Popen([sys.executable, "-c", program, str(root)])
    try:
        for number in range(15):
            (root / "d.md").write_text(f"{number}\n")
            baseline.diff()
            baseline.commit(f"{number}")
    finally:
        other.kill()
        other.wait()
    git.check()
    baseline.commit("last")
    assert baseline.diff().changes == ()


REPLACE_FOR_EVER = """
import os, sys
os.chdir(sys.argv[1])
while True:
    os.link(".new", ".next")
    os.rename(".next", "a.md")
    open(".next", "w").close()
    os.rename(".next", "a.md")
"""


def test_a_file_that_is_replaced_while_it_is_opened_is_opened_again(root):
    (root / "a.md").write_text("text")
    (root / ".new").write_text("text")
    other = subprocess.Popen([sys.executable, "-c", REPLACE_FOR_EVER, str(root)])
    try:
        folder = GuardedFolder(str(root))
        while _read(folder, "a.md") != b"":
            time.sleep(0.01)  # the other one has not begun yet
        # One opening in ten to three hundred meets a replacement.
        assert {_read(folder, "a.md") for _ in range(3000)} <= {b"text", b""}
    finally:
        other.kill()
        other.wait()


@pytest.fixture
def make_git(tmp_path, git):
    return lambda root: type(git)(root, tmp_path)


SAME_SECOND = """
import os, signal, sys
def hook(event, args):
    if event == "codexmem.instant" and args[0] == "baseline:commit:before":
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from codexmem_core.consolidate.baseline import Baseline
class Clock:
    def now_ms(self): return int(sys.argv[2])
Baseline(sys.argv[1], Clock()).commit("work")
"""


def test_a_commit_can_be_made_again_within_the_second_of_the_kill(baseline, put, root, git, clock):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    killed = subprocess.run([sys.executable, "-c", SAME_SECOND, str(root), str(clock.now_ms())], check=False)
    assert killed.returncode == -signal.SIGKILL
    baseline.commit("work")
    assert baseline.diff().changes == ()
    git.check()
