"""Another process swaps a folder of the memory for a link, again and again, while the agent works in it."""

import subprocess
import sys

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.draft import EditedMeanwhile

SWAPPER = """
import contextlib, os, shutil, sys
real, aside, target = sys.argv[1:]
print("swapping", flush=True)
while True:
    with contextlib.suppress(OSError):  # a writer may have made the folder anew
        os.rename(real, aside)
        os.symlink(target, real)
    while os.path.lexists(aside):
        with contextlib.suppress(OSError):
            os.unlink(real)
        with contextlib.suppress(OSError):
            os.rename(aside, real)
        if os.path.lexists(aside):
            shutil.rmtree(real, ignore_errors=True)
"""
ROUNDS = 120


def test_a_folder_that_becomes_a_link_on_the_way_leads_nowhere(tools_of, world, look_of, secret):
    real = world.root / "skills" / "deploy"
    (world.outside / "folder" / "SKILL.md").write_text(secret)
    before = look_of(world.outside)
    answers, applied = [], 0
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, real, world.top / "aside", world.outside / "folder"], stdout=subprocess.PIPE
    )
    try:
        assert swapper.stdout.readline() == b"swapping\n"
        for number in range(ROUNDS):
            made = tools_of()
            answers += [
                made.call("read", path="skills/deploy/SKILL.md"),
                made.call("write", path=f"skills/deploy/new{number}.md", content=f"round {number}\n"),
                made.call("edit", path="skills/deploy/SKILL.md", old_string="heron", new_string="gull"),
                made.call("glob", pattern="skills/**"),
                made.call("grep", pattern="heron", path="skills"),
            ]
            try:
                made.draft.apply()
                applied += 1
            except (OSError, Refused, EditedMeanwhile):
                continue
        assert swapper.poll() is None
    finally:
        swapper.kill()
        swapper.communicate()
    assert look_of(world.outside) == before
    assert secret not in "".join(answers)
    assert "deep.md" not in "".join(answers)
    # It was a race: now and then the folder was there, and now and then it was not.
    assert any(answer.startswith("read refused") or "no such file" in answer for answer in answers)
    assert any("lines 1 to" in answer for answer in answers)
    assert applied
