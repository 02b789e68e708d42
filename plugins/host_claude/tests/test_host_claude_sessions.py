"""Which sessions Claude Code has: found once, whatever their files are called, and never in the future."""

import os

import pytest
from codexmem_hookspecs.known import Known

ID = "3f0c1a52-0000-4000-8000-000000000001"
OTHER = "3f0c1a52-0000-4000-8000-000000000002"


def test_a_session_is_named_by_its_lines(claude):
    claude.write(claude.user("hi", entrypoint="sdk-cli"), name="renamed.jsonl")
    session = claude.session()
    assert (session.id, session.cwd, session.source, session.kind) == (ID, "/home/user/proj", "sdk-cli", "main")


def test_of_two_files_of_one_session_the_longer_wins(claude):
    lines = [claude.user("one"), claude.agent("two")]
    claude.write(*lines[:1], under="projects/-a")
    longer = claude.write(*lines, under="projects/-b")
    assert claude.session().locator == longer


def test_four_kinds_of_subagent_files_are_told_from_one_real_session(claude):
    claude.write(claude.user("real"))
    claude.write(claude.user("a", isSidechain=True, agentId="1a"), name="agent-1a.jsonl")
    claude.write(claude.user("b"), name="agent-2b.jsonl")
    claude.write(claude.user("c"), under=f"projects/-home-user-proj/{ID}/subagents", name="agent-3c.jsonl")
    claude.write(claude.user("d", isSidechain=True, sessionId=OTHER), name=f"{OTHER}.jsonl")
    sessions = {session.id: session.kind for session in claude.sessions()}
    assert sessions == {
        ID: "main",
        "agent-1a": "subagent",
        "agent-2b": "subagent",
        "agent-3c": "subagent",
        OTHER: "subagent",
    }


def test_a_subagent_is_known_by_its_own_id_and_its_file_reads_as_its_conversation(claude):
    claude.write(
        claude.user("do the task", isSidechain=True, agentId="1a"),
        claude.agent("done", isSidechain=True, agentId="1a"),
        name="renamed.jsonl",
    )
    assert claude.session().id == "agent-1a"
    assert claude.said() == [("human", "do the task"), ("final", "done")]


def test_what_a_subagent_says_and_does_in_the_main_file_is_marked(claude):
    claude.write(
        claude.user("real"),
        claude.user("do the task", isSidechain=True),
        claude.agent(claude.call("t1", command="make"), isSidechain=True),
        claude.agent("all done"),
    )
    assert [item.aside for item in claude.items()] == [False, True, True, False]


def test_a_subagents_words_in_the_main_file_are_another_agents(claude):
    claude.write(
        claude.user("real"),
        claude.user("do the task", isSidechain=True),
        claude.agent("task done", isSidechain=True),
        claude.agent("all done"),
    )
    assert claude.said() == [
        ("human", "real"),
        ("other_agent", "do the task"),
        ("other_agent", "task done"),
        ("final", "all done"),
    ]


def test_a_line_that_stands_twice_is_given_once(claude):
    lines = [claude.user("one"), claude.agent("two"), claude.user("three")]
    claude.write(*lines, *lines[:2], claude.user("four"), lines[2], claude.user("five"))
    items = claude.items()
    assert [item.text for item in items] == ["one", "two", "three", "four", "five"]
    for item in items:
        assert claude.items(after=item.position) == [other for other in items if other.position > item.position]


def test_a_copy_from_far_before_the_position_is_given_once_too(claude):
    first = claude.user("first")
    claude.write(first, *(claude.user(f"{n} " + "x" * 200_000) for n in range(3)), claude.user("last"), first)
    items = claude.items()
    assert [item.text[:5].strip() for item in items] == ["first", "0 xxx", "1 xxx", "2 xxx", "last"]
    assert claude.items(after=items[-1].position) == []


def test_a_fork_does_not_repeat_its_parent(claude):
    claude.write(claude.user("one"), claude.agent("two"))
    mark = {"sessionId": OTHER, "forkedFrom": {"sessionId": ID, "messageUuid": "m"}}
    copied = [claude.user("one", **mark), claude.agent("two", **mark)]
    claude.write(*copied, claude.user("three", sessionId=OTHER), name=f"{OTHER}.jsonl")
    fork = next(session for session in claude.sessions() if session.id == OTHER)
    assert fork.forked_from == ID
    assert claude.said(fork) == [("human", "three")]


def test_lines_that_keep_their_old_session_id_belong_to_the_old_session(claude):
    claude.write(claude.user("one"), claude.user("two", sessionId=OTHER), name=f"{OTHER}.jsonl")
    session = claude.session()
    assert (session.id, session.forked_from) == (OTHER, ID)
    assert claude.said() == [("human", "two")]


def test_a_long_last_line_does_not_hide_whose_file_it_is(claude):
    claude.write(claude.user("one"), claude.user("x" * 100_000, sessionId=OTHER), name=f"{OTHER}.jsonl")
    assert claude.session().id == OTHER


def test_files_without_a_conversation_are_no_sessions(claude):
    claude.write({"type": "summary", "summary": "Old talk", "leafUuid": "u"}, name="a.jsonl")
    claude.write({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}, name="b.jsonl")
    claude.write(name="c.jsonl")
    assert claude.sessions() == []
    assert claude.services.log.warnings == []


@pytest.mark.parametrize("keeper", ["claude", "guarded"])
def test_a_project_folder_that_is_a_link_is_followed_once(keeper, request):
    claude = request.getfixturevalue(keeper)
    path = claude.write(claude.user("hi"))
    projects = os.path.dirname(os.path.dirname(path))
    os.symlink(os.path.dirname(path), os.path.join(projects, "-renamed"))
    os.symlink("..", os.path.join(projects, "loop"))
    assert claude.session().id == ID
    real = os.path.join(claude.services.home, "elsewhere")
    os.rename(claude.home, real)
    os.symlink(real, claude.home)
    assert claude.said() == [("human", "hi")]


def test_clocks_that_are_wrong_make_no_session_of_the_future(claude):
    now = claude.now_ms
    lines = [claude.user("a", ms=now - 5_000), claude.user("b", ms=now + 10**12), claude.user("c", ms=1_000)]
    path = claude.write(*lines, claude.user("d", ms=now - 9_000))
    os.utime(path, (now / 1000 + 3 * 86_400,) * 2)
    session = claude.session()
    assert (session.updated_at_ms, session.touched_at_ms) == (now - 5_000, now)
    assert [item.at_ms for item in claude.items()] == [now - 5_000, 0, 0, now - 9_000]


def test_the_home_of_the_settings_comes_first(claude):
    claude.write(claude.user("hi"))
    claude.services.settings["home"] = claude.home
    claude.services.environ["CLAUDE_CONFIG_DIR"] = "/nowhere"
    assert len(claude.sessions()) == 1
    claude.services.settings["home"] = os.path.join(claude.services.home, "nowhere")
    assert claude.sessions() == []


def test_only_files_with_a_new_stat_are_opened(claude):
    for number in range(20):
        id_ = f"3f0c1a52-0000-4000-8000-0000000001{number:02d}"
        claude.write(claude.user("hi", sessionId=id_), name=f"{id_}.jsonl", under=f"projects/-p{number}")
    sessions = claude.sessions()
    known = {(session.locator, session.stamp) for session in sessions}
    with open(sessions[5].locator, "ab") as file:
        file.write(b"\n")
    claude.services.opened.clear()
    changed = claude.sessions(known=Known.of(known))
    assert [session.locator for session in changed] == [sessions[5].locator]
    assert set(claude.services.opened) == {sessions[5].locator}
