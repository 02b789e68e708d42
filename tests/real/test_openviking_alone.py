"""The server by itself: when one of these fails, OpenViking has changed and not codexmem."""

import pytest
from fake_ov_models import CHAT
from realhosts.openviking import ask


@pytest.fixture
def append(account):
    def send(*words):
        messages = [{"role": "user", "content": word} for word in words]
        return account.call("POST", "/api/v1/sessions/cx-1/messages/batch", {"messages": messages})

    return send


@pytest.fixture
def commit(account):
    return lambda **body: account.call("POST", "/api/v1/sessions/cx-1/commit", body)


def test_messages_stay_in_their_order_across_commits_and_come_back_as_an_overview(account, append, commit):
    assert append("harbor-1", "harbor-2")["added"] == 2
    assert commit()["status"] == "accepted"
    append("harbor-3")
    assert [text for _, text in account.messages("cx-1")] == ["harbor-1", "harbor-2", "harbor-3"]
    assert "harbor-1, harbor-2" in account.context("cx-1")["latest_archive_overview"]


def test_nothing_to_commit_is_no_error(account, append, commit):
    append("harbor-1")
    assert commit(keep_recent_count=5)["status"] == "skipped"
    commit()
    assert commit()["reason"] == "no_messages"


def test_a_session_that_it_does_not_know_is_not_found(account):
    assert ask(f"{account.server.url}/api/v1/sessions/cx-2/commit", method="POST", body={}, key=account.key)[0] == 404
    assert account.messages("cx-2") == []


def test_a_wrong_key_is_refused_even_where_none_is_needed(account):
    assert ask(f"{account.server.url}/health", key="another key")[0] == 401
    assert ask(f"{account.server.url}/health")[0] == 200


def test_accounts_share_nothing(account, append):
    append("harbor-1")
    assert account.server.account().session("cx-1") is None


def test_a_commit_whose_model_fails_was_accepted_and_keeps_the_messages(account, append, commit):
    account.server.models.script = [{"match": CHAT, "error": 500, "repeat": True}]
    append("harbor-1")
    assert commit()["status"] == "accepted"
    append("harbor-2")
    assert [text for _, text in account.messages("cx-1")] == ["harbor-1", "harbor-2"]
    assert "failed" in {task["status"] for task in account.tasks() if task["resource_id"] == "cx-1"}
