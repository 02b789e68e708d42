"""OpenCode 2's sessions come from the service that it registers, else from processes that tell what they saw."""

import json
from contextlib import suppress

import pytest
from codexmem_hookspecs.errors import ModelRefused, Unreadable
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import Presence
from codexmem_hookspecs.values.extract import ExtractionRequest
from codexmem_host_opencode import plugin
from fake_opencode2 import FakeOpenCode2

from .second_messages import CREATED, session, user

(BACKEND,) = plugin.codexmem_models()
UNAVAILABLE = "OpenCode 2's service is unavailable: only sessions that its processes saw are read"


def reasons(opencode):
    return [fields.get("reason", "") for event, fields in opencode.services.log.warnings if event == UNAVAILABLE]


# Which service


@pytest.mark.parametrize("route", ["/api/info", "/api/status", "/api/health"])
def test_a_service_of_any_age_is_found_by_its_own_route(opencode, service, route):
    service.ready_at = route
    service.put("ses_1")
    assert [one.id for one in opencode.sessions()] == ["ses_1"]


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_only_a_missing_route_leads_to_an_older_one(opencode, service, status):
    service.put("ses_1")
    service.ready_at = "/api/status"
    service.broken["/api/info"] = (status, {"version": "2.0.20", "pid": service.pid})
    assert opencode.sessions() == []
    assert f"/api/info: HTTP {status}" in reasons(opencode)[0]


@pytest.mark.parametrize(
    "body",
    [
        {"version": "2.0.20"},
        {"pid": 7},
        {"version": "", "pid": 7},
        {"version": "2.0.20", "pid": "seven"},
        {"version": "2.0.20", "pid": 7, "healthy": False},
        [],
        "<html>",
        None,
    ],
)
def test_what_does_not_say_that_it_is_ready_is_not_asked(opencode, service, body):
    service.put("ses_1")
    service.broken["/api/info"] = (200, body)
    assert opencode.sessions() == []
    assert "not ready" in reasons(opencode)[0]


@pytest.mark.parametrize("body", [{"version": "2", "pid": 7}, {"data": {"version": "2", "pid": 7, "healthy": True}}])
def test_readiness_is_understood_with_and_without_what_older_services_add(opencode, service, body):
    service.put("ses_1")
    service.broken["/api/info"] = (200, body)
    assert len(opencode.sessions()) == 1


def test_another_process_is_taken_on_this_machine_and_on_no_other(opencode, service):
    service.put("ses_1")
    service.pid = 777
    assert len(opencode.sessions()) == 1
    elsewhere = service.url.replace("127.0.0.1", "0.0.0.0")  # leads here, but is no name of this machine's own
    (service.state / "service.json").write_text(json.dumps({"url": elsewhere}))
    assert opencode.sessions() == []
    assert "no OpenCode that was seen at work" in reasons(opencode)[0]
    opencode.saw("/home/user/proj", name="proj.2", generation=2, pid=777)
    assert len(opencode.sessions()) == 1


def test_a_service_with_a_password_is_told_what_stands_in_its_registration(opencode, service):
    service.put("ses_1")
    service.password = "open sesame"
    assert opencode.sessions() == []
    service.register(service.state)
    assert len(opencode.sessions()) == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"url": 7}', "{}"])
def test_a_registration_that_is_none_is_named_as_the_reason(opencode, service, content):
    (service.state / "service.json").write_text(content)
    assert opencode.sessions() == []
    assert "service.json" in reasons(opencode)[0]


def test_a_service_that_came_again_with_another_password_and_address_is_found_again(opencode, service):
    service.put("ses_1")
    assert len(opencode.sessions()) == 1
    with FakeOpenCode2(password="new", pid=5) as newer:
        newer.put("ses_2")
        newer.register(service.state)
        assert [one.id for one in opencode.sessions()] == ["ses_2"]


def test_the_service_that_the_user_named_is_asked(opencode, service):
    service.put("ses_1")
    (service.state / "service.json").unlink()
    opencode.services.settings["url"] = f"{service.url}/"
    assert len(opencode.sessions()) == 1


# Both generations


def test_sessions_of_both_generations_are_found(served, service, recorded):
    conversation = recorded("recalled")
    served.server.put(conversation)
    service.put("ses_2", directory="/home/user/second")
    assert {one.id: one.cwd for one in served.sessions()} == {
        conversation["info"]["id"]: "/home/user/proj",
        "ses_2": "/home/user/second",
    }
    assert served.items(served.session(conversation))
    service.put("ses_2", user("hello"))
    assert [item.text for item in served.items(session("ses_2"))] == ["hello"]


def test_a_session_is_gone_only_when_both_generations_say_so(served, service, recorded):
    first, second, gone = served.session(recorded("recalled")), session("ses_2"), session("ses_3")
    served.server.put(recorded("recalled"))
    service.put("ses_2")
    there = {first.id: Presence.present, "ses_2": Presence.present}
    assert served.presence(first, second, gone) == there | {"ses_3": Presence.gone}
    (service.state / "service.json").unlink()
    assert served.presence(first, second, gone) == {
        first.id: Presence.present,
        "ses_2": Presence.unknown,
        "ses_3": Presence.unknown,
    }


# Lists


def test_pages_are_followed_and_subagents_and_known_sessions_left_out(opencode, service):
    service.page = 2
    for number in range(5):
        service.put(f"ses_{number}", updated=CREATED + number)
    service.put("ses_child", parentID="ses_1")
    found = opencode.sessions()
    assert [one.id for one in found] == [f"ses_{number}" for number in (4, 3, 2, 1, 0)]
    known = Known.of((one.locator, one.stamp) for one in found)
    service.put("ses_3", updated=CREATED + 10)
    assert [one.id for one in opencode.sessions(known=known)] == ["ses_3"]


def test_a_list_that_leads_back_to_itself_ends(opencode, service):
    service.broken["/api/session"] = (200, {"data": [service_row("ses_1")], "cursor": {"next": "again"}})
    assert [one.id for one in opencode.sessions()] == ["ses_1"]


def service_row(session_id):
    return {"id": session_id, "directory": "/home/user/old", "time": {"updated": CREATED}}


@pytest.mark.parametrize("rows", [{"data": 7}, "<html>", {"data": [7, {"id": None}, {"title": "no id"}]}])
def test_an_odd_list_is_a_warning_and_no_session(opencode, service, rows):
    service.broken["/api/session"] = (200, rows)
    assert opencode.sessions() == []
    assert opencode.services.log.warnings


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, {"data": None}, {"data": {}}, {"cursor": 7, "data": []}])
def test_odd_answers_of_any_route_break_nothing(opencode, service, odd):
    service.put("ses_1")
    for path in ("/api/session", "/api/session/ses_1", "/api/session/ses_1/message", "/api/agent", "/api/model"):
        service.broken = {path: (200, odd)}
        opencode.sessions()
        opencode.presence(session())
        with suppress(Unreadable):
            opencode.entries(session())
        with pytest.raises(ModelRefused):
            BACKEND.ask(ExtractionRequest(instructions="", input="", schema={}), None, opencode.services)


# Processes alone


@pytest.fixture
def process(opencode, service):
    """No service is registered; a process answers by the plugin file."""
    (service.state / "service.json").unlink()
    service.broken["/api/info"] = (200, {"version": "2.0.20", "pid": 7, "observed": True})
    opencode.saw("/home/user/proj", name="proj.2", generation=2, location={"url": service.url, "token": "secret"})
    return service


def test_without_a_service_what_a_process_saw_is_read_and_it_is_said_to_be_no_more(opencode, process):
    process.put("ses_1", user("hello"))
    assert [one.id for one in opencode.sessions()] == ["ses_1"]
    assert reasons(opencode) == ["no service of OpenCode 2 is registered"]
    assert [item.text for item in opencode.items(session())] == ["hello"]
    assert {one.headers["authorization"] for one in process.requests} == {"Bearer secret"}


def test_a_process_says_of_no_session_that_it_is_gone(opencode, process):
    process.put("ses_1")
    assert opencode.presence(session(), session("ses_2")) == {"ses_1": Presence.present, "ses_2": Presence.unknown}


def test_a_process_elsewhere_is_never_told_the_token(opencode, process):
    place = {"url": "http://192.0.2.1:4242", "token": "secret"}
    opencode.saw("/home/user/proj", name="proj.2", generation=2, location=place)
    assert opencode.sessions() == []
    assert process.requests == []
