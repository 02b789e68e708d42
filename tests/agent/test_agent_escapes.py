"""Every way out of the memory that a model could try, one call each: refused, told, traced, and nothing changed."""

import os
import socket

import pytest

OUT = "REFUSED"
"""The tool says that it is not allowed."""
NO = "ERROR"
"""It is wrong, or there is no such thing; nothing comes of it."""
NONE = "NOTHING"
"""A search that finds nothing."""

LONG = "a" * 300
CATASTROPHIC = "(a+)+$"

PATHS = {
    # absolute
    "absolute": ("{outside}/secret.txt", OUT),
    "absolute in the root": ("{root}/MEMORY.md", OUT),
    "home": ("~/.bashrc", OUT),
    "home of root": ("~root/.bashrc", OUT),
    "drive": ("C:/Windows/win.ini", OUT),
    "drive with backslashes": ("C:\\Windows\\win.ini", OUT),
    "share": ("\\\\server\\share\\x.md", OUT),
    "double slash": ("//etc/passwd", OUT),
    "device": ("/dev/zero", OUT),
    "own process": ("/proc/self/environ", OUT),
    # climbing
    "parent": ("../memory.db", OUT),
    "parent of parent": ("../../outside/secret.txt", OUT),
    "other memory": ("../memories_v2/memory_summary.md", OUT),
    "down and up": ("skills/../../memory.db", OUT),
    "up from a file": ("MEMORY.md/../../memory.db", OUT),
    "only dots": ("..", OUT),
    "dots at the end": ("skills/..", OUT),
    "dot slash": ("./../memory.db", OUT),
    "many slashes": ("skills//..//..//memory.db", OUT),
    "backslashes": ("skills\\..\\..\\memory.db", OUT),
    "mixed": ("skills/..\\../memory.db", OUT),
    # names that become something else
    "full-width dots": ("\uff0e\uff0e/memory.db", OUT),
    "one dot leaders": ("\u2024\u2024/memory.db", OUT),
    "two dot leader": ("\u2025/memory.db", OUT),
    "full-width slash": ("skills\uff0f..\uff0fx.md", OUT),
    "full-width backslash": ("skills\uff3c..\uff3cx.md", OUT),
    "zero width before a dotfile": ("\u200b.git/config", OUT),
    "zero width in a dotfile": (".g\u200cit/config", OUT),
    "byte order mark": ("\ufeff.git/config", OUT),
    "right to left": ("skills/\u202edm.terces.md", OUT),
    "leader before git": ("\u2024git/config", OUT),
    "no-break space": ("MEMORY.md\u00a0", OUT),
    "line separator": ("skills/a\u2028b.md", OUT),
    "lone surrogate": ("skills/\udc8f.md", OUT),
    "nul": ("MEMORY.md\0.txt", OUT),
    "newline": ("MEMORY.md\n", OUT),
    "tab": ("skills/a\tb.md", OUT),
    "escape": ("skills/\x1b[2J.md", OUT),
    # ends that other systems drop
    "trailing dot": ("MEMORY.md.", OUT),
    "trailing blank": ("MEMORY.md ", OUT),
    "leading blank": (" MEMORY.md", OUT),
    "folder with trailing dot": ("skills./x.md", OUT),
    "trailing slash": ("skills/x.md/", OUT),
    "empty": ("", OUT),
    "only a dot": (".", OUT),
    "only a slash": ("/", OUT),
    # dotfiles
    "git config": (".git/config", OUT),
    "git head": (".git/HEAD", OUT),
    "git hook": (".git/hooks/post-commit", OUT),
    "git in capitals": (".GIT/config", OUT),
    "git in a folder": ("skills/.git/config", OUT),
    "dotfile": (".hidden.md", OUT),
    "dotfile in a folder": ("skills/.hidden.md", OUT),
    # too much of a name
    "long name": (f"skills/{LONG}.md", OUT),
    "long name in many bytes": (f"skills/{'ü' * 120}.md", OUT),
    "very long path": ("skills/" + "a/b" * 200 + ".md", OUT),
    "very deep": ("skills/" + "a/" * 12 + "x.md", OUT),
}  # fmt: skip


@pytest.mark.parametrize("tool", ["read", "write", "edit", "glob", "grep"])
@pytest.mark.parametrize("case", PATHS)
def test_no_path_leads_out(escape, world, tool, case):
    path, expected = PATHS[case]
    path = path.format(outside=world.outside, root=world.root)
    more = {
        "read": {"path": path},
        "write": {"path": path, "content": "taken over"},
        "edit": {"path": path, "old_string": "one", "new_string": "two"},
        "glob": {"pattern": path},
        "grep": {"pattern": "heron", "path": path},
    }[tool]
    if tool == "grep" and case in ("empty", "only a dot", "trailing slash"):
        # Everything, and a folder: what any search may say.
        expected = NONE
    assert_said(escape(tool, more), tool, expected)


NOT_WRITTEN = {
    "generated file": "raw_memories.md",
    "generated file in another case": "Raw_Memories.md",
    "recap": "rollout_summaries/a.md",
    "new recap": "rollout_summaries/new.md",
    "recap in capitals": "ROLLOUT_SUMMARIES/a.md",
    "note": "extensions/ad_hoc/notes/2026-01-01T00-00-00-x.md",
    "instructions": "extensions/ad_hoc/instructions.md",
    "new extension": "extensions/mine/instructions.md",
    "diff file": "phase2_workspace_diff.md",
    "diff file in another case": "PHASE2_workspace_diff.md",
    "lower case": "memory.md",
    "upper case": "MEMORY.MD",
    "mixed case": "Memory_Summary.md",
    "folder in upper case": "SKILLS/x.md",
    "cyrillic letter": "\u041cEMORY.md",
    "full-width letter": "\uff2dEMORY.md",
    "combining mark": "MEMORY\u0307.md",
    "greek letter": "ME\u039cORY.md",
    "decomposed name": "skills/cafe\u0301.md",
    "ligature": "skills/\ufb01le.md",
    "division slash": "skills\u2215x.md",
    "fraction slash": "skills/..\u2044..\u2044x.md",
    "percent": "skills/%2e%2e/x.md",
    "percent slash": "skills%2fx.md",
    "percent at the beginning": "%2e%2e/memory.db",
    "semicolon": "skills/..;/x.md",
    "stream": "skills/x.md:hidden",
    "wildcard": "skills/*.md",
    "brackets": "skills/[x].md",
    "pipe": "skills/x|y.md",
    "dollar": "skills/$HOME.md",
    "file url": "file:///etc/passwd",
    "undeclared": "notes.md",
    "instructions of an agent": "AGENTS.md",
    "program": "run.sh",
    "the folder": "skills",
    "a folder": "skills/deploy",
    "below a file": "skills/deploy/SKILL.md/x.md",
    "below the handbook": "MEMORY.md/x.md",
    "same name in another case": "skills/deploy/Skill.md",
}


@pytest.mark.parametrize("tool", ["write", "edit"])
@pytest.mark.parametrize("case", NOT_WRITTEN)
def test_only_what_the_memory_declares_is_written(escape, tool, case):
    path = NOT_WRITTEN[case]
    arguments = {"write": {"content": "x"}, "edit": {"old_string": "recap", "new_string": "two"}}[tool]
    expected = OUT
    if tool == "edit" and case == "same name in another case":
        expected = NO  # there is no such file to edit
    assert_said(escape(tool, {"path": path, **arguments}), tool, expected)


SPECIAL = [
    ("link to a file", "skills/link.md"),
    ("through a linked folder", "skills/linked/deep.md"),
    ("link to a device", "skills/zero"),
    ("link to nothing", "skills/dangling.md"),
    ("pipe", "skills/pipe"),
    ("socket", "skills/socket"),
    ("hard link", "skills/hard.md"),
    ("hard link as the handbook", "MEMORY.md"),
]


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
@pytest.mark.parametrize(("case", "path"), SPECIAL, ids=[case for case, _ in SPECIAL])
def test_nothing_but_a_file_of_the_memory_is_opened(escape, world, tool, case, path, monkeypatch):
    skills = world.root / "skills"
    (skills / "link.md").symlink_to(world.outside / "secret.txt")
    (skills / "linked").symlink_to(world.outside / "folder")
    (skills / "zero").symlink_to("/dev/zero")
    (skills / "dangling.md").symlink_to(world.outside / "made.md")
    os.mkfifo(skills / "pipe")
    os.link(world.outside / "secret.txt", skills / "hard.md")
    (world.root / "MEMORY.md").unlink()
    os.link(world.outside / "secret.txt", world.root / "MEMORY.md")
    monkeypatch.chdir(skills)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        arguments = {
            "read": {},
            "write": {"content": "taken over"},
            "edit": {"old_string": "heron", "new_string": "gull"},
        }[tool]
        assert_said(escape(tool, {"path": path, **arguments}), tool, OUT)


@pytest.mark.parametrize("pattern", ["**", "**/*", "skills/**", "skills/*/*", "*/*/*.md"])
def test_no_listing_and_no_search_goes_through_a_link(agent_with, script, world, secret, pattern):
    skills = world.root / "skills"
    (skills / "link.md").symlink_to(world.outside / "secret.txt")
    (skills / "linked").symlink_to(world.outside / "folder")
    (skills / "up").symlink_to("..")
    os.mkfifo(skills / "pipe")
    os.link(world.outside / "secret.txt", skills / "hard.md")
    run = agent_with(script.calling("glob", pattern=pattern), script.calling("grep", pattern="heron", path=pattern))
    listed, found = run.model.results
    assert "skills/deploy/SKILL.md" in listed
    assert not {"link", "deep", "up/", "pipe", ".git", ".hidden"} & set(listed.replace("/", "\n").split("\n"))
    assert found.startswith("no line holds that")


SIZES = {
    "a byte too large": {"path": "MEMORY.md", "content": "a" * (1024 * 1024 + 1)},
    "too large in bytes": {"path": "MEMORY.md", "content": "ü" * (600 * 1024)},
    "far too large": {"path": "skills/x.md", "content": "line\n" * 2_000_000},
}


@pytest.mark.parametrize("case", SIZES)
def test_no_file_grows_over_its_limit_by_writing(escape, case):
    assert_said(escape("write", SIZES[case]), "write", OUT)


def test_no_file_grows_over_its_limit_by_editing(escape, world):
    (world.root / "skills" / "many.md").write_text("x" * 10_000)
    told = escape(
        "edit", {"path": "skills/many.md", "old_string": "x", "new_string": "y" * 10_000, "replace_all": True}
    )
    assert_said(told, "edit", OUT)


def test_a_huge_file_is_not_read(escape, world):
    with (world.root / "skills" / "huge.md").open("wb") as file:
        file.truncate(8 * 1024 * 1024 + 1)
    assert_said(escape("read", {"path": "skills/huge.md"}), "read", OUT)


CALLS = {
    "shell": ("bash", {"command": "rm -rf /"}, OUT),
    "program": ("exec_command", {"cmd": "cat /etc/passwd"}, OUT),
    "deletion": ("delete", {"path": "MEMORY.md"}, OUT),
    "network": ("fetch", {"url": "http://127.0.0.1/"}, OUT),
    "tool in capitals": ("WRITE", {"path": "MEMORY.md", "content": "x"}, OUT),
    "inner method": ("_write", {"path": "MEMORY.md", "content": "x"}, OUT),
    "dunder": ("__init__", {}, OUT),
    "no name": ("", {}, OUT),
    "path a number": ("read", {"path": 5}, NO),
    "path a list": ("read", {"path": ["..", "memory.db"]}, NO),
    "path an object": ("write", {"path": {"path": "MEMORY.md"}, "content": "x"}, NO),
    "path missing": ("read", {}, NO),
    "path null": ("write", {"path": None, "content": "x"}, NO),
    "content a number": ("write", {"path": "MEMORY.md", "content": 5}, NO),
    "content missing": ("write", {"path": "MEMORY.md"}, NO),
    "argument that is none": ("read", {"path": "MEMORY.md", "root": "/"}, NO),
    "follow links": ("glob", {"pattern": "**", "follow": True}, NO),
    "offset zero": ("read", {"path": "MEMORY.md", "offset": 0}, NO),
    "offset negative": ("read", {"path": "MEMORY.md", "offset": -1}, NO),
    "offset a bool": ("read", {"path": "MEMORY.md", "offset": True}, NO),
    "offset a fraction": ("read", {"path": "MEMORY.md", "offset": 1.5}, NO),
    "offset past the end": ("read", {"path": "MEMORY.md", "offset": 10_000}, NO),
    "limit too large": ("read", {"path": "MEMORY.md", "limit": 10**12}, NO),
    "old text twice": ("edit", {"path": "MEMORY.md", "old_string": "- one line", "new_string": "x"}, NO),
    "old text absent": ("edit", {"path": "MEMORY.md", "old_string": "two lines", "new_string": "x"}, NO),
    "old text empty": ("edit", {"path": "MEMORY.md", "old_string": "", "new_string": "x"}, NO),
    "old text the same": ("edit", {"path": "MEMORY.md", "old_string": "Task", "new_string": "Task"}, NO),
    "no such file": ("edit", {"path": "skills/none.md", "old_string": "a", "new_string": "b"}, NO),
    "expression": ("grep", {"pattern": CATASTROPHIC}, NONE),
    "expression with a lookahead": ("grep", {"pattern": "(?=.*heron)", "ignore_case": True}, NONE),
    "text empty": ("grep", {"pattern": ""}, NO),
    "text of empty lines": ("grep", {"pattern": "\n\n"}, NO),
    "text too long": ("grep", {"pattern": "a" * 501}, NO),
    "too many texts": ("grep", {"pattern": "\n".join("abcdefghijklmnopq")}, NO),
    "class for a dot": ("glob", {"pattern": "[.]git/*"}, NONE),
    "braces": ("glob", {"pattern": "{..,.}/memory.db"}, NONE),
    "stars without end": ("glob", {"pattern": "*a" * 95 + "b"}, NONE),
    "folders without end": ("glob", {"pattern": "**/**/**/**/**/**/**/x"}, NONE),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_call_comes_to_nothing(escape, world, case):
    (world.root / "skills" / "backtracking.md").write_text("a" * 5_000 + "!\n")
    tool, arguments, expected = CALLS[case]
    assert_said(escape(tool, arguments), tool, expected)


def test_a_call_that_could_not_be_understood_is_told_so(escape):
    told = escape("write", {}, problem="the arguments are no JSON object")
    assert_said(told, "write", NO)
    assert "no JSON object" in told.answer


def assert_said(told, tool, expected):
    name = tool or "call"
    beginnings = {
        OUT: (f"{name} refused: ",),
        NO: (f"{name} error: ",),
        NONE: ("no file fits ", "no line holds that"),
    }[expected]
    assert told.answer.startswith(beginnings), told.answer
    assert told.line["outcome"] == {OUT: "refused", NO: "error", NONE: "done"}[expected]
    if expected != NONE:
        assert told.line["why"]
