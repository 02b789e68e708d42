"""Where each setting comes from, within which limits, and whose server it is."""

from __future__ import annotations

import json

import pytest
from codexmem_ov_commit.knobs import KNOBS, settings
from codexmem_ov_commit.settings import Settings
from hypothesis import given
from hypothesis import strategies as st

LIMITS = [
    # variable, key, given, expected
    ("CODEX_IDLE_TTL_MS", "idle_ttl_ms", "60000.9", 60_000),
    ("CODEX_IDLE_TTL_MS", "idle_ttl_ms", "0", 1_800_000),
    ("CODEX_IDLE_TTL_MS", "idle_ttl_ms", "-5", 1_800_000),
    ("CODEX_IDLE_TTL_MS", "idle_ttl_ms", "0.5", 1_800_000),
    ("CODEX_IDLE_TTL_MS", "idle_ttl_ms", "inf", 1_800_000),
    ("CODEX_COMMITTED_TTL_MS", "committed_ttl_ms", "0", 2_592_000_000),
    ("CODEX_COMMITTED_TTL_MS", "committed_ttl_ms", "1000", 1_000),
    ("CODEX_LOCK_WAIT_MS", "lock_wait_ms", "0", 0),
    ("CODEX_LOCK_WAIT_MS", "lock_wait_ms", "-7", -1),
    ("CODEX_LOCK_WAIT_MS", "lock_wait_ms", "250", 250),
    ("TIMEOUT_MS", "timeout_ms", "5", 1_000),
    ("TIMEOUT_MS", "timeout_ms", "900000", 300_000),
    ("TIMEOUT_MS", "timeout_ms", "abc", 15_000),
    ("TIMEOUT_MS", "timeout_ms", "", 15_000),
    ("TIMEOUT_MS", "timeout_ms", "1_0", 15_000),
    ("CAPTURE_TIMEOUT_MS", "capture_timeout_ms", "5", 1_000),
    ("RECALL_TIMEOUT_MS", "recall_timeout_ms", "5", 1_000),
    ("AUTO_RECALL", "auto_recall", " Off ", False),
    ("AUTO_RECALL", "auto_recall", "no", False),
    ("AUTO_RECALL", "auto_recall", "perhaps", True),
    ("AUTO_CAPTURE", "auto_capture", "0", False),
    ("AUTO_COMMIT_ON_COMPACT", "auto_commit_on_compact", "false", False),
    ("RECALL_LIMIT", "recall_limit", "0", 1),
    ("RECALL_LIMIT", "recall_limit", "51", 50),
    ("SCORE_THRESHOLD", "score_threshold", "2", 1.0),
    ("SCORE_THRESHOLD", "score_threshold", "-1", 0.0),
    ("SCORE_THRESHOLD", "score_threshold", "0.5", 0.5),
    ("MIN_QUERY_LENGTH", "min_query_length", "0", 1),
    ("RECALL_PEER_SCOPE", "recall_peer_scope", "actor", "actor"),
    ("RECALL_PEER_SCOPE", "recall_peer_scope", "everybody", "all"),
    ("RECALL_MAX_TOKENS", "recall_max_tokens", "5", 64),
    ("RECALL_DEDUP_TURNS", "recall_dedup_turns", "21", 20),
    ("RECALL_QUERY_EXPANSION", "recall_query_expansion", "off", "off"),
    ("RECALL_COMPRESS", "recall_compress", "1", True),
    ("RECALL_COMPRESS_REASONING_EFFORT", "recall_compress_thinking", "low", "low"),
    ("RECALL_COMPRESS_TIMEOUT_MS", "recall_compress_timeout_ms", "5", 1_000),
    ("RECALL_COMPRESS_MIN_INPUT_CHARS", "recall_compress_min_input_chars", "0", 0),
    ("RECALL_COMPRESS_MIN_INPUT_CHARS", "recall_compress_min_input_chars", "100001", 100_000),
    ("RECALL_COMPRESS_MAX_INPUT_CHARS", "recall_compress_max_input_chars", "5", 1_000),
    ("RECALL_COMPRESS_MAX_BULLETS", "recall_compress_max_bullets", "0", 1),
    ("RECALL_COMPRESS_MAX_BULLETS", "recall_compress_max_bullets", "51", 50),
    ("CAPTURE_MODE", "capture_mode", "keyword", "keyword"),
    ("CAPTURE_MODE", "capture_mode", "loud", "semantic"),
    ("CAPTURE_MAX_LENGTH", "capture_max_length", "5", 200),
    ("CAPTURE_MAX_LENGTH", "capture_max_length", "100001", 100_000),
    ("CAPTURE_TOOL_MAX_CHARS", "capture_tool_max_chars", "5", 200),
    ("CAPTURE_TOOL_MAX_CHARS", "capture_tool_max_chars", "1000001", 1_000_000),
    ("CAPTURE_ASSISTANT_TURNS", "capture_assistant_turns", "off", False),
    ("CAPTURE_TOOL_RESULTS", "capture_tool_results", "off", False),
    ("COMMIT_TOKEN_THRESHOLD", "commit_token_threshold", "5", 1_000),
    ("COMMIT_TOKEN_THRESHOLD", "commit_token_threshold", "1000001", 1_000_000),
    ("COMMIT_KEEP_RECENT_COUNT", "commit_keep_recent_count", "-1", 0),
    ("COMMIT_KEEP_RECENT_COUNT", "commit_keep_recent_count", "1001", 1_000),
    ("NO_AUTO_INJECT", "no_auto_inject", "yes", True),
    ("PROFILE_TOKEN_BUDGET", "profile_token_budget", "5", 500),
    ("PROFILE_TOKEN_BUDGET", "profile_token_budget", "50001", 50_000),
    ("RESUME_ARCHIVE_INJECT", "resume_archive_inject", "off", False),
    ("RESUME_ARCHIVE_TOKEN_BUDGET", "resume_archive_token_budget", "128001", 128_000),
    ("RESUME_ARCHIVE_TOKEN_BUDGET", "resume_archive_token_budget", "-1", 0),
    ("RESUME_ARCHIVE_MAX_CHARS", "resume_archive_max_chars", "5", 1_000),
    ("RESUME_ARCHIVE_MAX_CHARS", "resume_archive_max_chars", "200001", 200_000),
    ("BYPASS_SESSION", "bypass_session", "on", True),
    ("BYPASS_SESSION_PATTERNS", "bypass_session_patterns", " a/**, ,b ", ("a/**", "b")),
    ("WORKSPACE_PEER", "workspace_peer", "off", False),
    ("PENDING_REPLAY_LIMIT", "pending_replay_limit", "0", 50),
    ("PENDING_MAX_RETRIES", "pending_max_retries", "5", 5),
    ("PENDING_TTL_DAYS", "pending_ttl_days", "5", 5),
]


@pytest.fixture
def user(codexmem_services, tmp_path):
    """A user's home with files of OpenViking's clients; settings as they come out."""
    services = codexmem_services
    services.environ["HOME"] = str(tmp_path)

    class User:
        environ = services.environ

        def file(self, name, **content):
            path = tmp_path / ".openviking" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content))
            return path

        def own(self, **values):
            services.settings.update(values)

        def set(self, **environ):
            services.environ.update({f"OPENVIKING_{name}": value for name, value in environ.items()})

        @property
        def settings(self):
            return Settings(services)

        @property
        def connection(self):
            return self.settings.connection

    return User()


def value(found, key):
    knob = next(knob for knob in KNOBS if knob.key == key)
    if isinstance(knob.default, bool):
        return found.flag(key)
    if isinstance(knob.default, tuple):
        return found.words(key)
    if isinstance(knob.default, str):
        return found.text(key)
    return found.number(key) if isinstance(knob.default, int) else found.decimal(key)


@pytest.mark.parametrize(("variable", "key", "given_", "expected"), LIMITS)
def test_a_variable_counts_within_its_limits(user, variable, key, given_, expected):
    user.set(**{variable: given_})
    assert value(user.settings, key) == expected


def test_the_defaults_are_the_originals(user):
    found = user.settings
    expected = {
        "timeout_ms": 15_000, "recall_timeout_ms": 120_000, "recall_limit": 10, "score_threshold": 0.35,
        "min_query_length": 3, "recall_peer_scope": "all", "recall_dedup_turns": 5, "idle_ttl_ms": 1_800_000,
        "recall_compress_min_input_chars": 1_500, "recall_compress_max_input_chars": 18_000,
        "recall_compress_max_bullets": 6, "capture_mode": "semantic", "capture_max_length": 24_000,
        "capture_tool_max_chars": 1_000_000, "commit_token_threshold": 20_000, "commit_keep_recent_count": 10,
        "profile_token_budget": 10_000, "resume_archive_token_budget": 32_000, "resume_archive_max_chars": 6_000,
        "pending_max_retries": 3, "pending_ttl_days": 7, "pending_replay_limit": 50, "workspace_peer": True,
        "auto_recall": True, "auto_capture": True, "recall_compress": False,
    }  # fmt: skip
    assert {key: value(found, key) for key in expected} == expected
    assert set(found.origins.values()) == {"default"}
    assert (found.connection.timeout_s, found.connection.write_timeout_s) == (15.0, 30.0)


def test_a_write_may_take_twice_as_long_as_a_question(user):
    user.set(TIMEOUT_MS="40000")
    assert user.connection.write_timeout_s == 80.0


@given(st.text(max_size=12))
def test_no_text_breaks_a_setting(text):
    for knob in KNOBS:
        read = knob.read(text)
        assert read is None or isinstance(read, type(knob.default)) or isinstance(knob.default, float)
        if isinstance(read, (int, float)) and not isinstance(read, bool):
            assert knob.least <= read <= knob.high


def test_our_table_takes_what_the_variables_take():
    registered = {setting.key: setting for setting in settings()}
    assert registered.keys() == {knob.key for knob in KNOBS}
    for knob in KNOBS:
        assert knob.read(knob.default) in (knob.default, None)
    assert {key for key, one in registered.items() if one.project} == {
        "peer_id", "bypass_session", "bypass_session_patterns", "workspace_peer",
    }  # fmt: skip


def test_the_environment_goes_first_then_our_table_then_the_clients_file_then_the_servers(user):
    user.file("ov.conf", codex={"recallLimit": 2})
    assert user.settings.number("recall_limit") == 2
    user.file("ovcli.conf", plugin={"recallLimit": 3})
    assert user.settings.number("recall_limit") == 3
    user.file("ovcli.conf", plugin={"recallLimit": 3, "codex": {"recall_limit": 4}})
    assert user.settings.number("recall_limit") == 4
    user.own(recall_limit=5)
    assert user.settings.number("recall_limit") == 5
    user.set(RECALL_LIMIT="6")
    assert user.settings.number("recall_limit") == 6
    assert user.settings.origins["recall_limit"] == "OPENVIKING_RECALL_LIMIT"


def test_what_a_place_says_wrongly_is_asked_of_the_next(user):
    user.file("ovcli.conf", plugin={"autoRecall": False})
    user.set(AUTO_RECALL="perhaps")
    assert user.settings.flag("auto_recall") is False


def test_without_anything_the_server_is_on_this_machine(user):
    assert user.connection.url == "http://127.0.0.1:1933"
    user.file("ov.conf", server={"host": "0.0.0.0", "port": 7000})
    assert user.connection.url == "http://127.0.0.1:7000"
    user.file("ov.conf", server={"url": "https://ov.example.org/"})
    assert user.connection.url == "https://ov.example.org"


def test_the_clients_file_alone_counts_when_it_says_who_we_are(user):
    user.file("ov.conf", server={"root_api_key": "root", "url": "http://server"}, codex={"apiKey": "codex"})
    assert user.connection.api_key == "codex"
    user.file("ovcli.conf", url="http://client", api_key="cli")
    assert (user.connection.url, user.connection.api_key) == ("http://client", "cli")
    user.file("ovcli.conf", url="http://client")
    assert user.connection.api_key == "", "no other file's key goes to this server"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("", "root"),
        ("http://server/", "root"),
        ("http://localhost:1933", "root"),
        ("https://elsewhere.example.org", ""),
        ("http://[broken", ""),
    ],
)
@pytest.mark.parametrize("place", ["environment", "table"])
def test_a_servers_root_key_goes_to_no_other_server(user, place, url, key):
    user.file("ov.conf", server={"root_api_key": "root", "url": "http://server"})
    if place == "environment":
        user.set(URL=url)
    elif url:
        user.own(url=url)
    assert user.connection.api_key == key


def test_the_environment_is_filled_up_from_files(user):
    user.file("ovcli.conf", url="http://client", api_key="cli", account="acme")
    user.set(API_KEY="env")
    assert (user.connection.url, user.connection.api_key) == ("http://client", "env")
    user.set(BEARER_TOKEN="bearer", BASE_URL="http://env/")
    assert (user.connection.url, user.connection.api_key) == ("http://env", "bearer")


def test_the_environment_alone_counts_when_it_shall(user):
    user.file("ovcli.conf", url="http://client", api_key="cli", actor_peer_id="me")
    user.file("ov.conf", server={"root_api_key": "root", "port": 7000})
    user.set(CREDENTIALS_SOURCE="env")
    assert (user.connection.url, user.connection.api_key) == ("http://127.0.0.1:1933", "")
    assert user.settings.text("peer_id") == ""


@pytest.mark.parametrize("mode", ["cli", "ovcli", "file", "config"])
def test_the_clients_file_alone_counts_when_it_shall(user, mode):
    user.file("ovcli.conf", url="http://client")
    user.set(CREDENTIAL_SOURCE=mode, URL="http://env", API_KEY="env")
    assert (user.connection.url, user.connection.api_key) == ("http://client", "")


def test_an_old_clients_file_is_found_by_the_servers_variable(user, tmp_path):
    path = user.file("old.conf", url="http://old", api_key="old")
    user.set(CONFIG_FILE="~/.openviking/old.conf")
    assert (user.connection.url, user.connection.api_key) == ("http://old", "old")
    path.write_text(json.dumps({"server": {"port": 7000}, "url": "http://old"}))
    assert user.connection.url == "http://127.0.0.1:7000"


def test_who_we_are_is_told_only_where_the_server_trusts_its_clients(user):
    assert user.connection.trusted is False
    user.set(ACCOUNT="acme")
    assert user.connection.trusted is True
    user.set(AUTH_MODE="api_key")
    assert user.connection.trusted is False
    user.set(AUTH_MODE="trusted", ACCOUNT="")
    assert user.connection.trusted is True


def test_a_peer_is_named_by_the_environment_our_table_or_the_clients_file(user):
    user.file("ovcli.conf", peer_id="file")
    assert user.settings.text("peer_id") == "file"
    user.own(peer_id="table")
    assert user.settings.text("peer_id") == "table"
    user.set(PEER_ID="env")
    assert user.settings.text("peer_id") == "env"


def test_a_key_can_stand_in_a_variable_of_the_users_choice(user):
    user.own(api_key_env="MY_KEY", url="http://mine")
    user.environ["MY_KEY"] = "mine"
    assert (user.connection.url, user.connection.api_key) == ("http://mine", "mine")
