"""What a person writes into, changes in, or takes out of the files."""

import pytest


@pytest.fixture
def edited(memory, keep):
    """A consolidated memory of two sessions."""
    memory.add(
        keep(1, "Fix the parser. I prefer tabs.", ("make", "", True)),
        keep(2, "Add a lexer. Always sign the commits.", ("make", "", True)),
    ).consolidate()
    return memory


def put(memory, path, old, new):
    text = memory.workspace.files[path]
    assert old in text
    memory.workspace.files[path] = text.replace(old, new, 1)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory_summary.md"])
def test_added_lines_stay_under_their_heading(edited, keep, path):
    put(edited, path, "## User preferences\n\n", "## User preferences\n\n- I like green tests.\n")
    for day in (3, 4):
        edited.add(keep(day, f"Fix the printer number {day}", ("make", "", True))).consolidate()
        text = edited.workspace.files[path]
        assert text.count("- I like green tests.") == 1
        section = text.split("## User preferences")[1].split("\n## ")[0]
        assert "- I like green tests." in section
    assert "printer number 4" in edited.workspace.files[path]


@pytest.mark.parametrize("path", ["MEMORY.md", "memory_summary.md"])
def test_own_sections_stay_verbatim(edited, keep, path):
    own = "## My rules\n\nFirst line.\n\n```sh\n# not a heading\nmake all\n```\n\n### Deeper\n\n- item"
    edited.workspace.files[path] += f"\n{own}\n"
    edited.add(keep(3, "Fix the printer", ("make", "", True))).consolidate()
    assert own in edited.workspace.files[path]
    edited.consolidate()
    assert edited.workspace.files[path].count("## My rules") == 1


def test_an_edited_line_keeps_the_users_words_and_ours_do_not_return(edited, keep):
    put(edited, "memory_summary.md", "I prefer tabs.", "I prefer spaces, really.")
    put(edited, "MEMORY.md", "I prefer tabs.", "I prefer spaces, really.")
    edited.add(keep(3, "Fix the printer", ("make", "", True))).consolidate()
    for text in (edited.handbook, edited.summary):
        assert "I prefer spaces, really." in text
        assert "I prefer tabs." not in text


def test_a_removed_line_does_not_return_until_it_is_said_again(edited, keep):
    for path in ("MEMORY.md", "memory_summary.md"):
        lines = edited.workspace.files[path].split("\n")
        edited.workspace.files[path] = "\n".join(line for line in lines if "sign the commits" not in line)
    for day in (3, 4):
        edited.add(keep(day, f"Fix the printer number {day}", ("make", "", True))).consolidate()
        assert "sign the commits" not in edited.handbook + edited.summary
    edited.add(keep(9, "Always sign the commits.")).consolidate()
    assert "Always sign the commits." in edited.handbook
    assert "Always sign the commits." in edited.summary


def test_a_removed_task_block_stays_away(edited, keep):
    start, end = edited.handbook.index("## Task 2: Fix the parser"), edited.handbook.index("## User preferences")
    edited.workspace.files["MEMORY.md"] = edited.handbook[:start] + edited.handbook[end:]
    edited.add(keep(3, "Fix the printer", ("make", "", True))).consolidate()
    assert "## Task 1: Fix the printer" in edited.handbook
    assert "Fix the parser, uncertain" not in edited.handbook


@pytest.mark.parametrize("text", ["", "\n", "# Memory\n\n_Nothing here yet._\n"])
def test_a_lost_or_seeded_file_is_made_anew(edited, text):
    before = edited.handbook
    edited.workspace.files["MEMORY.md"] = text
    edited.consolidate()
    assert edited.handbook == before


def test_files_without_fingerprints_are_the_users(memory, keep):
    memory.workspace.files["MEMORY.md"] = "# Task Group: old\n\n## Task 1: from before\n\n- fact\n"
    memory.workspace.files["memory_summary.md"] = "v1\n\n## User Profile\n\nLikes tea.\n\n## Old part\n\n- fact\n"
    memory.add(keep(1, "Fix the parser")).consolidate()
    assert "## Task 1: from before\n\n- fact" in memory.handbook
    assert "Likes tea." in memory.summary
    assert "## Old part\n\n- fact" in memory.summary
    assert memory.summary.startswith("v1\n")


def test_a_summary_whose_first_line_was_changed_is_valid_again(edited):
    edited.workspace.files["memory_summary.md"] = "my title\n" + edited.summary
    edited.consolidate()
    assert edited.summary.startswith("v1\n")
    assert "my title" in edited.summary


def test_long_text_of_the_users_is_never_cut_and_takes_from_ours(memory, keep):
    memory.add(*[keep(day, f"Fix the parser number {day}. I prefer colour {day} in part {day}.") for day in range(60)])
    memory.consolidate()
    mine = "\n".join(f"- my own rule number {number}" for number in range(200))
    memory.workspace.files["memory_summary.md"] += f"\n## Mine\n\n{mine}\n"
    memory.consolidate()
    assert mine in memory.summary
    assert len(memory.summary.encode()) <= 10_000


def test_a_crash_before_the_fingerprints_were_written_heals(edited, keep):
    old = edited.workspace.files["generated_lines.txt"]
    edited.add(keep(3, "Fix the printer. I prefer blue.", ("make", "", True))).consolidate()
    whole = dict(edited.workspace.files)
    edited.workspace.files["generated_lines.txt"] = old
    edited.consolidate()
    assert edited.workspace.files == whole
