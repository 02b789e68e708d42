"""Which sessions Codex has: found once, whatever their files are called, and never in the future."""

import os

import pytest
from codexmem_hookspecs.known import Known

ID = "0198a000-0000-7000-8000-000000000001"
OTHER = "0198a000-0000-7000-8000-000000000002"


def name_of(id_):
    return f"rollout-2027-01-15T08-00-00-{id_}.jsonl"


def test_of_two_files_of_one_session_the_longer_wins(codex):
    lines = [codex.meta(), codex.user("one"), codex.agent("two")]
    codex.write(*lines[:2])
    longer = codex.write(*lines, under="archived_sessions")
    assert codex.session().locator == longer
    assert [text for _, text in codex.said()] == ["one", "two"]


def test_a_forked_session_does_not_repeat_its_parent(codex):
    history = [codex.user(f"turn {n}") if n % 2 else codex.agent(f"answer {n}") for n in range(20)]
    codex.write(codex.meta(), *history)
    copied = [line | {"timestamp": "2027-01-15T07:59:59.000Z"} for line in history]
    codex.write(
        codex.meta(OTHER, forked_from_id=ID),
        *copied,
        codex.user("on my own"),
        codex.agent("turn 1"),
        name=name_of(OTHER),
    )
    fork = next(session for session in codex.sessions() if session.id == OTHER)
    assert fork.forked_from == ID
    assert codex.said(fork) == [("human", "on my own"), ("final", "turn 1")]
    items = codex.items(fork)
    assert codex.items(fork, items[0].position) == items[1:]


def test_a_fork_that_begins_with_its_parents_own_records_is_the_fork(codex):
    shared = [codex.meta(), *(codex.user(f"turn {n}") for n in range(40))]
    codex.write(*shared)
    codex.write(*shared, codex.meta(OTHER, forked_from_id=ID), codex.user("mine"), name=name_of(OTHER))
    fork = next(session for session in codex.sessions() if session.id == OTHER)
    assert codex.said(fork) == [("human", "mine")]


def test_without_the_parent_what_is_older_than_the_fork_is_left_out(codex):
    began = codex.now_ms - 500_000
    codex.write(
        codex.meta(OTHER, forked_from_id=ID, ms=began),
        codex.user("old", ms=began - 1_000),
        codex.user("new", ms=began + 1_000),
        codex.user("out of order", ms=began - 2_000),
        name=name_of(OTHER),
    )
    assert [text for _, text in codex.said()] == ["new", "out of order"]


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        ({"source": "exec"}, "main"),
        ({"source": "vscode", "thread_source": "user"}, "main"),
        ({"source": {"custom": "atlas"}}, "main"),
        ({"source": {"subagent": "review"}}, "subagent"),
        ({"source": {"subagent": {"other": "guardian"}}}, "subagent"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": OTHER, "depth": 1}}}}, "subagent"),
        ({"source": "cli", "thread_source": "subagent"}, "subagent"),
        ({"source": "cli", "parent_thread_id": OTHER}, "subagent"),
        ({"source": {"internal": "memory_consolidation"}}, "internal"),
        ({"source": {"subagent": "memory_consolidation"}}, "internal"),
        ({"source": "cli", "thread_source": "memory_consolidation"}, "internal"),
    ],
)
def test_subagents_and_internal_sessions_are_told_from_the_users(codex, meta, kind):
    codex.write(codex.meta(**meta), codex.user("hi"))
    assert codex.session().kind == kind


def test_a_child_is_known_by_its_own_id_and_not_its_parents(codex):
    codex.write(codex.meta(OTHER, session_id=ID, thread_source="subagent"), name=name_of(OTHER))
    assert codex.session().id == OTHER


@pytest.mark.parametrize(("mode", "expected"), [("disabled", "disabled"), ("polluted", "polluted"), ("new", "enabled")])
def test_what_a_session_asked_for_its_memory_is_honoured(codex, mode, expected):
    codex.write(codex.meta(memory_mode=mode), codex.user("hi"))
    assert codex.session().memory_mode == expected


def test_a_later_change_of_the_memory_mode_counts(codex):
    codex.write(codex.meta(), codex.user("hi"), codex.meta(memory_mode="disabled"))
    assert codex.session().memory_mode == "disabled"
    codex.write(codex.meta(memory_mode="disabled"), codex.user("hi"), codex.meta(memory_mode="enabled"))
    assert codex.session().memory_mode == "enabled"
    codex.write(codex.meta(), codex.meta(OTHER, memory_mode="disabled"), codex.user("hi"))
    assert codex.session().memory_mode == "enabled"


def test_a_session_that_switched_its_memory_off_out_of_sight_cannot_be_read(codex):
    from codexmem_hookspecs.errors import Unreadable

    codex.write(codex.meta(), codex.meta(memory_mode="disabled"), *(codex.user("x" * 1_000) for _ in range(100)))
    session = codex.session()
    assert session.memory_mode == "enabled"  # neither the head nor the tail that discovery reads says so
    with pytest.raises(Unreadable, match="turned its memory off"):
        codex.entries(session)


@pytest.mark.parametrize("keeper", ["codex", "guarded"])
def test_a_loop_of_links_ends_and_one_transcript_by_two_paths_is_one_session(keeper, request):
    codex = request.getfixturevalue(keeper)
    path = codex.write(codex.meta(), codex.user("hi"))
    sessions = os.path.join(codex.home, "sessions")
    os.symlink("..", os.path.join(sessions, "a"))
    os.symlink(os.path.dirname(path), os.path.join(sessions, "b"))
    assert codex.session().id == ID


@pytest.mark.parametrize("keeper", ["codex", "guarded"])
def test_a_home_that_is_a_link_is_followed(keeper, request):
    codex = request.getfixturevalue(keeper)
    codex.write(codex.meta(), codex.user("hi"))
    real = os.path.join(codex.services.home, "elsewhere")
    os.rename(codex.home, real)
    os.symlink(real, codex.home)
    assert codex.said() == [("human", "hi")]


@pytest.mark.parametrize("keeper", ["codex", "guarded"])
def test_a_day_folder_that_is_a_link_is_followed(keeper, request):
    codex = request.getfixturevalue(keeper)
    path = codex.write(codex.meta(), codex.user("hi"))
    real = os.path.join(codex.services.home, "disk")
    os.rename(os.path.dirname(path), real)
    os.symlink(real, os.path.dirname(path))
    assert codex.said() == [("human", "hi")]


def test_clocks_that_are_wrong_make_no_session_of_the_future(codex):
    now = codex.now_ms
    path = codex.write(codex.meta(ms=now - 9_000), codex.user("a", ms=now - 5_000), codex.user("b", ms=now + 10**12))
    os.utime(path, (now / 1000 + 3 * 86_400,) * 2)
    session = codex.session()
    assert session.updated_at_ms == now - 5_000
    assert session.touched_at_ms == now
    assert [item.at_ms for item in codex.items()] == [now - 5_000, 0]


def test_records_out_of_order_and_of_1970_do_not_count(codex):
    now = codex.now_ms
    codex.write(codex.meta(ms=now - 9_000), codex.user("a", ms=now - 1_000), codex.user("b", ms=now - 8_000))
    assert codex.session().updated_at_ms == now - 1_000
    path = codex.write(codex.meta(ms=1_000), codex.user("a", ms=2_000))
    os.utime(path, (-1_000, -1_000))
    session = codex.session()
    assert (session.updated_at_ms, session.touched_at_ms) == (0, 0)


def test_only_files_with_a_new_stat_are_opened(codex):
    for number in range(30):
        id_ = f"0198a000-0000-7000-8000-0000000001{number:02d}"
        codex.write(codex.meta(id_), codex.user("hi"), name=name_of(id_), under=f"sessions/2026/12/{number + 1:02d}")
    known = {(session.locator, session.stamp) for session in codex.sessions()}
    resumed = codex.sessions()[7].locator
    with open(resumed, "ab") as file:
        file.write(b"\n")
    codex.services.opened.clear()
    assert [session.locator for session in codex.sessions(known=Known.of(known))] == [resumed]
    assert set(codex.services.opened) == {resumed}


def test_the_home_of_the_settings_comes_first(codex):
    codex.write(codex.meta(), codex.user("hi"))
    codex.services.settings["home"] = os.path.join(codex.services.home, "nowhere")
    assert codex.sessions() == []
    codex.services.settings["home"] = codex.home
    codex.services.environ["CODEX_HOME"] = "/nowhere"
    assert len(codex.sessions()) == 1


def test_a_rollout_without_its_session_meta_is_found_by_its_name(codex):
    codex.write(b'{"type":"session_meta","payl\n', codex.user("hi"))
    assert codex.session().id == ID
    assert codex.said() == [("human", "hi")]
    assert codex.services.log.warnings


def test_an_empty_file_is_not_a_session_yet(codex):
    codex.write()
    assert codex.sessions() == []
    assert codex.services.log.warnings == []


def test_an_unreadable_file_stops_no_other(codex):
    bad = codex.write(codex.meta(), codex.user("hi"))
    codex.write(codex.meta(OTHER), codex.user("fine"), name=name_of(OTHER))
    os.unlink(bad)
    os.symlink("/nonexistent", bad)
    assert [session.id for session in codex.sessions()] == [OTHER]
