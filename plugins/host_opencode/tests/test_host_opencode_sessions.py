"""Sessions are found through a server that listens, else through the program, else not at all."""

import json

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import Presence

CONVERSATIONS = ("tools-question-subagent-compaction", "run-and-continue", "recalled")


@pytest.fixture
def conversations(recorded):
    return [recorded(name) for name in CONVERSATIONS]


def warnings(opencode):
    return [(event, fields.get("reason", "")) for event, fields in opencode.services.log.warnings]


def listed(conversation, **info):
    return {"info": {**conversation["info"], **info}, "messages": conversation["messages"]}


# A server


def test_sessions_of_every_project_come_from_a_server_without_subagents_and_our_own(served, conversations):
    main, run, recalled = conversations
    elsewhere = listed(run, directory="/home/user/other")
    ours = listed(recalled, id="ses_ours", title="codexmem-extraction")
    child = listed(recalled, id="ses_child", parentID=main["info"]["id"])
    for conversation in (main, elsewhere, ours, child):
        served.server.put(conversation)
    found = served.sessions()
    assert [(session.id, session.cwd) for session in found] == [
        (run["info"]["id"], "/home/user/other"),
        (main["info"]["id"], "/home/user/proj"),
    ]
    (asked,) = served.server.asked("GET", "/experimental/session")
    assert asked.query["directory"] == "", "a directory would hide every other project's sessions"
    assert served.calls == []


def test_more_sessions_than_a_page_holds_are_listed(served, recorded, monkeypatch):
    monkeypatch.setattr("codexmem_host_opencode.server.PAGE", 3)
    conversation = recorded("recalled")
    for number in range(8):
        times = {"created": 1, "updated": 1_790_000_000_000 + number // 2}
        served.server.put(listed(conversation, id=f"ses_{number}", time=times))
    assert len(served.sessions()) == 8


def test_a_page_of_one_instant_hides_no_older_session(served, recorded, monkeypatch):
    monkeypatch.setattr("codexmem_host_opencode.server.PAGE", 2)
    for number in range(7):
        times = {"created": 1, "updated": 1_790_000_000_000 + (number == 0)}
        served.server.put(listed(recorded("recalled"), id=f"ses_{number}", time=times))
    assert len(served.sessions()) == 7


def test_a_session_that_went_on_is_found_again(served, conversations):
    served.server.put(conversations[0])
    known = Known.of((session.locator, session.stamp) for session in served.sessions())
    assert served.sessions(known=known) == []
    conversations[0]["info"]["time"]["updated"] += 1
    assert len(served.sessions(known=known)) == 1


@pytest.mark.parametrize("rows", [{"a": 1}, "<html>", [7, {"id": None}], [{"title": "no id"}]])
def test_an_odd_listing_is_a_warning_and_no_session(served, rows):
    served.server.broken["/experimental/session"] = (200, rows)
    served.uninstall()
    assert served.sessions() == []
    assert warnings(served)


def test_a_server_with_a_password_is_told_it(served, conversations):
    served.server.password = "open sesame"
    served.server.put(conversations[0])
    served.install()
    assert served.sessions() == []
    served.services.environ["OPENCODE_SERVER_PASSWORD"] = "open sesame"
    assert len(served.sessions()) == 1


def test_a_server_of_somebody_else_is_not_asked(served, conversations):
    served.server.state = "/home/other/.local/state/opencode"
    served.server.put(conversations[0])
    served.install()
    assert served.sessions() == []
    assert served.presence(served.session(conversations[0])) == {}


def test_the_server_that_the_user_named_is_asked_and_no_other(served, conversations):
    served.server.put(conversations[0])
    served.install()
    served.services.settings["url"] = "http://127.0.0.1:9"
    assert served.sessions() == []
    served.services.settings["url"] = served.server.url + "/"
    assert len(served.sessions()) == 1


# The program


def test_without_a_server_the_program_lists_the_projects_in_which_opencode_was_seen(opencode, conversations, tmp_path):
    project, other = tmp_path / "project", tmp_path / "other"
    for directory, conversation in zip((project, other), conversations[:2], strict=True):
        directory.mkdir()
        opencode.keep(listed(conversation, directory=str(directory)))
        opencode.saw(directory, url="http://127.0.0.1:9/")
    opencode.install()
    assert {(session.id, session.cwd) for session in opencode.sessions()} == {
        (conversations[0]["info"]["id"], str(project)),
        (conversations[1]["info"]["id"], str(other)),
    }
    assert {call[1] for call in opencode.calls} == {str(project), str(other)}
    assert all(call[0] == ["--pure", "session", "list", "--format", "json"] for call in opencode.calls)
    assert all(call[2]["CODEXMEM_CHILD"] == "1" for call in opencode.calls), "our own plugin in it must be silent"


def test_the_program_works_beside_the_users_settings_and_has_nothing_to_install(opencode, tmp_path):
    opencode.services.environ["OPENCODE_CONFIG"] = str(tmp_path / "mine.json")
    opencode.saw(tmp_path)
    opencode.install()
    opencode.sessions()
    ((_, _, environ),) = opencode.calls
    own = opencode.seen.parent / "quiet"
    assert (environ["XDG_CONFIG_HOME"], environ["XDG_STATE_HOME"]) == (str(own), str(own / "state"))
    assert environ["HOME"] == opencode.services.environ["HOME"], "its data is the user's"
    assert environ["OPENCODE_CONFIG"] == ""
    assert (own / "opencode" / "node_modules").is_dir()
    named = json.loads((own / "opencode" / "package-lock.json").read_text())["packages"][""]
    assert named == json.loads((own / "opencode" / "package.json").read_text())


def test_a_project_is_listed_again_only_after_something_happened_there(opencode, conversations, tmp_path):
    opencode.keep(listed(conversations[0], directory=str(tmp_path)))
    opencode.saw(tmp_path)
    opencode.install()
    first = opencode.sessions()
    assert opencode.sessions() == first, "what the engine has not taken over yet is given again"
    assert len(opencode.calls) == 1
    opencode.saw(tmp_path, hours_ago=0)
    opencode.sessions()
    assert len(opencode.calls) == 2


def test_a_transcript_comes_whole_from_the_program(opencode, conversations):
    main = conversations[0]
    main["messages"][0]["parts"][0]["text"] = "long " * 200_000
    opencode.keep(main)
    opencode.install()
    items = opencode.items(opencode.session(main))
    assert len(items[0].text) == 1_000_000
    assert items[-1].text == "ok"
    assert opencode.calls[0][0] == ["--pure", "export", main["info"]["id"]]


def test_a_server_that_breaks_is_made_up_for_by_the_program(served, conversations):
    main = conversations[0]
    served.server.put(main)
    served.keep(main)
    served.install()
    served.server.broken[f"/session/{main['info']['id']}/message"] = (500, {"name": "UnknownError"})
    assert served.items(served.session(main))[-1].text == "ok"


def test_one_project_that_is_gone_hides_no_other(opencode, conversations, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    opencode.keep(listed(conversations[0], directory=str(gone)))
    opencode.keep(listed(conversations[1], directory=str(tmp_path)))
    opencode.saw(gone)
    opencode.saw(tmp_path)
    opencode.install()
    assert len(opencode.sessions()) == 2
    gone.rmdir()
    opencode.saw(gone, hours_ago=0)
    assert len(opencode.sessions()) == 2, "what was said there is still in OpenCode"
    assert warnings(opencode) == []


def test_a_program_that_fails_is_a_warning(opencode, tmp_path):
    opencode.saw(tmp_path)
    opencode.program.write_text("#!/bin/sh\necho 'Error: database is locked' >&2\nexit 1\n")
    opencode.program.chmod(0o755)
    opencode.services.settings["program"] = str(opencode.program)
    assert opencode.sessions() == []
    ((event, reason),) = warnings(opencode)
    assert event == "OpenCode's sessions are not listed"
    assert "database is locked" in reason


# Neither


def test_without_server_and_program_nothing_is_found_and_it_is_said(opencode, conversations, tmp_path):
    opencode.saw(tmp_path)
    opencode.uninstall()
    assert opencode.sessions() == []
    assert warnings(opencode) == [
        ("OpenCode's sessions are not read", "no server of OpenCode answers, and its program is not found")
    ]
    with pytest.raises(Unreadable, match="program is not found"):
        opencode.entries(opencode.session(conversations[0]))


def test_where_opencode_was_never_seen_nobody_is_asked_and_nothing_is_said(opencode):
    opencode.install()
    assert opencode.sessions() == []
    assert opencode.calls == []
    assert opencode.services.log.warnings == []


def test_a_session_that_opencode_does_not_know_is_unreadable(served, conversations):
    served.install()
    with pytest.raises(Unreadable, match="Session not found"):
        served.entries(served.session(conversations[0]))


@pytest.mark.parametrize("printed", ["", "{", "[]", '{"messages": 3}', '{"info": {}, "messages": []}', "nonsense"])
def test_what_is_no_export_is_unreadable(opencode, conversations, printed):
    opencode.install()
    (opencode.store / conversations[0]["info"]["id"]).write_text(printed)
    with pytest.raises(Unreadable):
        opencode.entries(opencode.session(conversations[0]))


def test_a_word_in_another_form_is_left_alone(opencode, tmp_path):
    path = opencode.saw(tmp_path)
    path.write_text("{")
    opencode.install()
    assert opencode.sessions() == []
    assert path.exists()


def test_a_project_that_was_not_seen_for_a_season_is_let_go_of(opencode, tmp_path):
    path = opencode.saw(tmp_path, hours_ago=24 * 100)
    opencode.install()
    assert opencode.sessions() == []
    assert not path.exists()


def test_a_folder_that_the_user_names_holds_no_sessions_of_opencode(served, conversations, tmp_path):
    served.server.put(conversations[0])
    claimed = []
    assert served.sessions(folder=str(tmp_path), claim=claimed.append) == []
    assert claimed == []


# Presence


def test_only_an_own_server_says_that_a_session_is_gone(served, conversations):
    there, gone, unclear = (served.session(conversation) for conversation in conversations)
    served.server.put(conversations[0])
    served.server.broken[f"/session/{unclear.id}"] = (500, {})
    assert served.presence(there, gone, unclear) == {
        there.id: Presence.present,
        gone.id: Presence.gone,
        unclear.id: Presence.unknown,
    }


def test_without_a_server_nothing_is_gone(opencode, conversations):
    opencode.install()
    assert opencode.presence(opencode.session(conversations[0])) == {}


def test_what_is_written_about_listings_can_be_thrown_away(opencode, conversations, tmp_path):
    opencode.keep(listed(conversations[0], directory=str(tmp_path)))
    opencode.saw(tmp_path)
    opencode.install()
    opencode.sessions()
    for listing in (opencode.seen.parent / "listings").iterdir():
        listing.write_text(json.dumps({"stamp": 7}))
    assert len(opencode.sessions()) == 1
