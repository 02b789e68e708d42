"""What others do to the folder before an agent consolidates and meanwhile: people, notes, links, kills, dead locks."""

import os
import subprocess
import time

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.models import Turn


def test_a_note_that_is_written_meanwhile_is_new_in_the_next_run(den, root, script):
    den.learn("one")
    note = root / "extensions" / "ad_hoc" / "notes" / "2026-01-01T00-00-00-note.md"
    diff, *writes = script.good_steps()

    def write_note(_):
        note.write_text("The user prefers tea.\n")
        return writes[0]

    assert den.consolidate(script.ScriptedBackend(diff, write_note, writes[1])).status == "succeeded"
    model = script.ScriptedBackend(diff)
    assert den.consolidate(model).status == "succeeded"
    assert "- A extensions/ad_hoc/notes/2026-01-01T00-00-00-note.md" in model.results[0]
    assert "+The user prefers tea." in model.results[0]


def test_what_a_person_edits_meanwhile_stands_and_is_taken_in_by_the_next_run(den, consolidated, root, script):
    diff, handbook, summary = script.good_steps(handbook="# of the model\n")

    def edit(_):
        (root / "MEMORY.md").write_text("# by hand\n")
        return summary

    read = script.calling("read", path="MEMORY.md")
    done = den.consolidate(script.ScriptedBackend(read, handbook, edit))
    assert done.status == "skipped_changed_meanwhile"
    assert not done.failed
    assert (root / "MEMORY.md").read_text() == "# by hand\n"
    model = script.ScriptedBackend(diff)
    assert den.consolidate(model).status == "succeeded"
    assert "+# by hand" in model.results[0]


def test_what_is_forgotten_meanwhile_does_not_come_back(den, consolidated, root, script, baseline):
    def forget(_):
        baseline.squash("forgotten")
        return Turn(text="done")

    done = den.consolidate(script.ScriptedBackend(*script.good_steps(handbook="# still knows it\n"), forget))
    assert done.status == "skipped_changed_meanwhile"
    assert "still knows" not in (root / "MEMORY.md").read_text()
    assert den.jobs.consolidation_snapshot().status == "pending"


def test_a_link_that_appears_meanwhile_makes_the_files_invalid_and_is_removed(
    den, consolidated, root, script, tmp_path
):
    target = tmp_path / "target.md"
    target.write_text("v1\nnot ours\n")

    def link(_):
        (root / "memory_summary.md").unlink()
        (root / "memory_summary.md").symlink_to(target)
        return Turn(text="done")

    assert den.consolidate(script.ScriptedBackend(link)).status == "failed_invalid_artifacts"
    assert not (root / "memory_summary.md").is_symlink()
    assert target.read_text() == "v1\nnot ours\n"


def test_links_are_swept_after_any_failure(den, consolidated, root, script, tmp_path):
    def link(_):
        (root / "skills" / "out").symlink_to(tmp_path)
        raise ModelRefused("no answer of use", "invalid")

    assert "no answer of use" in den.consolidate(script.ScriptedBackend(link)).detail
    assert not (root / "skills" / "out").is_symlink()


def test_killed_in_the_middle_the_previous_state_stands(den, consolidated, root, script, baseline, program):
    head = baseline.history()[0].id
    assert subprocess.run([*program, den.home], check=False, timeout=60).returncode == -9
    assert den.jobs.consolidation_snapshot().status == "running"
    assert (root / "MEMORY.md").read_text() == script.HANDBOOK
    assert (root / "memory_summary.md").read_text() == script.SUMMARY
    assert baseline.history()[0].id == head
    assert (root / "phase2_workspace_diff.md").exists()

    assert den.jobs.release_orphans(fresh_s=0) == 1
    model = script.ScriptedBackend(*script.good_steps())
    assert den.consolidate(model).status == "succeeded"
    assert "rollout_summaries/" in model.results[0]
    assert not (root / "phase2_workspace_diff.md").exists()


def test_locks_that_a_dead_git_left_do_not_stop_it(den, consolidated, root, script):
    old = time.time() - 3_600
    for name in ("index.lock", "config.lock"):
        (root / ".git" / name).touch()
        os.utime(root / ".git" / name, (old, old))
    assert den.consolidate(script.ScriptedBackend(*script.good_steps())).status == "succeeded"
    assert not list((root / ".git").glob("*.lock"))


def test_files_with_hard_links_of_a_backup_can_be_edited_and_the_backup_stays(
    den, consolidated, root, script, tmp_path
):
    copy = tmp_path / "backup.md"
    os.link(root / "MEMORY.md", copy)
    edit = script.calling("edit", path="MEMORY.md", old_string="retries", new_string="two retries")
    model = script.ScriptedBackend(edit)
    assert den.consolidate(model).status == "succeeded"
    assert model.results == ["MEMORY.md: 1 place replaced"]
    assert copy.read_text() == script.HANDBOOK


def test_a_file_from_elsewhere_under_a_second_name_is_refused(den, consolidated, root, script, tmp_path):
    (tmp_path / "elsewhere.md").write_text("of somebody else\n")
    os.link(tmp_path / "elsewhere.md", root / "skills" / "linked.md")
    model = script.ScriptedBackend(
        script.calling("read", path="skills/linked.md"), script.calling("write", path="skills/linked.md", content="x")
    )
    assert den.consolidate(model).status == "succeeded"
    assert all("(a hard link)" in result for result in model.results)
    assert (tmp_path / "elsewhere.md").read_text() == "of somebody else\n"
