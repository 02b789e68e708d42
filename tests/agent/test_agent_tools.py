"""What the five tools do when they are used as they are meant to be."""

import pytest

from codexmem_core.consolidate.agent_forms import RESULT_BYTES, TOOL_INFOS
from codexmem_core.consolidate.draft import EditedMeanwhile

KEY = "sk-proj-" + "A1b2C3d4E5f6G7h8I9j0" * 2


@pytest.fixture
def made(tools_of):
    return tools_of()


@pytest.fixture
def call(made):
    return made.call


def test_the_five_tools_are_described_with_their_arguments():
    assert [info.name for info in TOOL_INFOS] == ["read", "write", "edit", "glob", "grep"]
    for info in TOOL_INFOS:
        assert set(info.schema["required"]) <= set(info.schema["properties"])
        assert info.schema["additionalProperties"] is False


def test_read_gives_windows_and_says_where_to_go_on(call, world):
    (world.root / "raw_memories.md").write_text("".join(f"line {n}\n" for n in range(1, 1201)))
    first = call("read", path="raw_memories.md")
    assert first.startswith("raw_memories.md, lines 1 to 500 of 1200; go on with offset 501\nline 1\n")
    last = call("read", path="./raw_memories.md", offset=1199, limit=10)
    assert last == "raw_memories.md, lines 1199 to 1200 of 1200\nline 1199\nline 1200"


@pytest.mark.parametrize("text", ["x" * 500_000, ("y" * 3_000 + "\n") * 100, "ü" * 100_000])
def test_no_result_is_larger_than_its_limit(call, world, text):
    (world.root / "raw_memories.md").write_text(text)
    for result in (
        call("read", path="raw_memories.md", limit=2000),
        call("grep", pattern=text[0]),
    ):
        assert 100 < len(result.encode()) <= RESULT_BYTES


def test_long_listings_and_many_hits_are_cut_and_say_so(call, world):
    folder = world.root / "rollout_summaries"
    for number in range(700):
        (folder / f"{'long-name-' * 12}{number}.md").write_text("word\nword\n")
    listed, found = call("glob", pattern="rollout_summaries/*"), call("grep", pattern="word")
    for result in (listed, found):
        assert len(result.encode()) <= RESULT_BYTES
        assert result.endswith("\n[there are more: narrow it down]")


def test_what_is_written_is_seen_by_every_tool_and_not_yet_on_disk(made, call, world):
    before = (world.root / "MEMORY.md").read_text()
    assert call("write", path="skills/new/SKILL.md", content="alpha\nbeta\n") == "skills/new/SKILL.md: 11 bytes written"
    assert call("edit", path="skills/new/SKILL.md", old_string="beta", new_string="gamma").endswith("1 place replaced")
    assert call("read", path="skills/new/SKILL.md").endswith("\nalpha\ngamma")
    assert call("glob", pattern="skills/*/SKILL.md") == "skills/deploy/SKILL.md\nskills/new/SKILL.md"
    assert call("grep", pattern="GAMMA", ignore_case=True, path="skills") == "skills/new/SKILL.md:2: gamma"
    call("write", path="MEMORY.md", content="anew\n")
    assert not (world.root / "skills" / "new").exists()
    assert (world.root / "MEMORY.md").read_text() == before

    made.draft.apply()

    assert (world.root / "skills" / "new" / "SKILL.md").read_text() == "alpha\ngamma\n"
    assert (world.root / "MEMORY.md").read_text() == "anew\n"


def test_edit_replaces_every_place_when_asked_to(call, made):
    told = call("edit", path="MEMORY.md", old_string="- one line", new_string="- two", replace_all=True)
    assert told == "MEMORY.md: 2 places replaced"
    assert made.draft.read("MEMORY.md").count("- two\n") == 2


def test_grep_finds_any_of_several_texts_and_shows_long_lines_around_the_place(call, world):
    (world.root / "raw_memories.md").write_text("x" * 1000 + "needle" + "y" * 1000 + "\nthread\nneither\n")
    lines = call("grep", pattern="needle\nthread", path="raw_memories.md").split("\n")
    assert [line.split(":")[1] for line in lines] == ["1", "2"]
    assert "needle" in lines[0]
    assert len(lines[0]) < 400


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.md", ["MEMORY.md", "memory_summary.md", "raw_memories.md"]),
        ("**/SKILL.md", ["skills/deploy/SKILL.md"]),
        ("skills/**", ["skills/deploy/SKILL.md"]),
        ("rollout_summaries/?.md", ["rollout_summaries/a.md"]),
        ("*/deploy/*", ["skills/deploy/SKILL.md"]),
        ("**/*", ["MEMORY.md", "extensions/ad_hoc/instructions.md", "memory_summary.md", "raw_memories.md",
                  "rollout_summaries/a.md", "skills/deploy/SKILL.md"]),
    ],
)  # fmt: skip
def test_glob_knows_stars_and_folders(call, pattern, found):
    assert call("glob", pattern=pattern).split("\n") == found


def test_secrets_neither_come_out_of_a_file_nor_go_into_one(call, made, world):
    (world.root / "raw_memories.md").write_text(f"# Raw\nOPENAI_API_KEY={KEY}\nnext line\n")
    read = call("read", path="raw_memories.md", offset=2, limit=1)
    assert "[REDACTED" in read
    assert KEY not in read
    assert KEY not in call("grep", pattern="OPENAI_API_KEY")
    assert call("grep", pattern=KEY).startswith("no line holds")
    call("write", path="MEMORY.md", content=f"the key is OPENAI_API_KEY={KEY}\n\0\udc8f")
    written = made.draft.content("MEMORY.md").decode()
    assert KEY not in written
    assert "\0" not in written


def test_half_of_a_secret_does_not_come_out_of_a_window(call, world):
    body = "\n".join("Qm9yZWRIZXJvbkF0Tm9vbg" * 3 for _ in range(8))
    pem = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    (world.root / "raw_memories.md").write_text(f"before\n{pem}after\n")
    for offset in range(1, 4):
        assert "Qm9yZWRIZXJvbkF0Tm9vbg" not in call("read", path="raw_memories.md", offset=offset, limit=2)


def test_a_file_that_its_owner_edits_meanwhile_is_left_as_it_is(call, made, world):
    call("read", path="MEMORY.md")
    call("write", path="memory_summary.md", content="v1\nnew\n")
    call("write", path="MEMORY.md", content="from the model\n")
    (world.root / "MEMORY.md").write_text("from the person\n")
    with pytest.raises(EditedMeanwhile, match=r"MEMORY\.md was changed"):
        made.draft.apply()
    assert (world.root / "MEMORY.md").read_text() == "from the person\n"
    assert (world.root / "memory_summary.md").read_text() == "v1\n\n## User Profile\n"


def test_the_number_of_files_and_all_their_bytes_have_limits(call, made):
    for number in range(100):
        assert call("write", path=f"skills/a/{number}.md", content="x").endswith("written")
    assert call("write", path="skills/a/100.md", content="x").startswith("write refused: skills/a/100.md: 100 files")
    assert call("write", path="skills/a/99.md", content="y").endswith("written")
    large = "z" * (1024 * 1024 - 20)
    answers = [call("write", path=f"skills/a/{number}.md", content=large) for number in range(9)]
    assert [answer.endswith("written") for answer in answers] == [True] * 8 + [False]
    assert len(made.draft.written) == 100


def test_files_are_put_in_place_in_the_order_of_their_last_change(call, made):
    for path in ("memory_summary.md", "MEMORY.md", "skills/x.md", "MEMORY.md"):
        call("write", path=path, content="v1\n")
    assert made.draft.written == ("memory_summary.md", "skills/x.md", "MEMORY.md")


def test_refusals_are_told_apart_from_mistakes(call, made, traced):
    call("read", path="MEMORY.md")
    call("read", path="none.md")
    call("write", path="../x", content="")
    assert [(line["tool"], line["path"], line["outcome"]) for line in traced()] == [
        ("read", "MEMORY.md", "done"),
        ("read", "none.md", "error"),
        ("write", "../x", "refused"),
    ]
    assert len(made.tools.refusals) == 1
