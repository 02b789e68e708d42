"""What redaction takes out, what it leaves, and that structure survives."""

import json

import pytest
from codexmem_hookspecs.values.capture import Item, Part, ToolUse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.safety.private import strip_private
from codexmem_core.safety.redaction import (
    find_secrets,
    redact,
    redact_item,
    redact_strings,
)

BASE64_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the reference's own examples
        ("authorization: bearer abcdEFGH12345678==", "authorization: Bearer [REDACTED]"),
        ('{"password":"a\\"b","x":1}', '{"password":"[REDACTED]","x":1}'),
        ("api_key = hunter2  # note", 'api_key = "[REDACTED]"  # note'),
        ("{token: abc, y: 2}", '{token: "[REDACTED]", y: 2}'),
        ('{"secret": {"a":[1]}, "b":2}', '{"secret": "[REDACTED]", "b":2}'),
        ('"curl -d password=abc&x=1"', '"curl -d password=[REDACTED]"'),
        ("password: hunter2", 'password: "[REDACTED]"'),
        ("mypassword=abc", 'mypassword="[REDACTED]"'),
        ("{'password': 'it''s', y: 'b'}", "{'password': '[REDACTED]', y: 'b'}"),
        ('{"password": 12, "pwd": null}', '{"password": "[REDACTED]", "pwd": "[REDACTED]"}'),
        ('{"password":\n  "x",\n "a":1}', '{"password":\n  "[REDACTED]",\n "a":1}'),
        ("aws_secret_access_key = abc/def", 'aws_secret_access_key = "[REDACTED]"'),
        ('{"note":"api_key: x","b":1}', '{"note":"api_key: [REDACTED]","b":1}'),
        # a value on the next line, and none
        ("password:\n  hunter2\nnext: 1", 'password:\n  "[REDACTED]"\nnext: 1'),
        ("token =\nabc123\n", 'token =\n"[REDACTED]"\n'),
        ("here is my api token:\nabc123def456", 'here is my api token:\n"[REDACTED]"'),
        ("password:\nsafe: ok", "password:\nsafe: ok"),
        ("secret:\n  - a\n", "secret:\n  - a\n"),
        ("Enter password:\n$ ls", "Enter password:\n$ ls"),
        # what is unmatched swallows nothing
        ('password: "abc\nsafe: "ok"', 'password: "[REDACTED]"\nsafe: "ok"'),
        ("password: {abc\nsafe: ok", 'password: "[REDACTED]"\nsafe: ok'),
        ("don't put password: hunter2 here", 'don\'t put password: "[REDACTED]" here'),
        # shell, configuration, code (spec cases 20 and 25)
        ("export STRIPE_API_KEY=abc && make", 'export STRIPE_API_KEY="[REDACTED]" && make'),
        ("PASSWORD=x ./run.sh", 'PASSWORD="[REDACTED]" ./run.sh'),
        ("API_KEY=x npm run deploy", 'API_KEY="[REDACTED]" npm run deploy'),
        ('{"cmd": "API_KEY=x sh deploy.sh"}', '{"cmd": "API_KEY=[REDACTED] sh deploy.sh"}'),
        ("revision identified by '8f2c1d04'", "revision identified by '8f2c1d04'"),
        ("CREATE USER ann IDENTIFIED BY 'x9'", "CREATE USER ann IDENTIFIED BY '[REDACTED]'"),
        (
            "export GH_TOKEN=x\nexport DB_SECRET=y\nX_PASSWORD=z",
            'export GH_TOKEN="[REDACTED]"\nexport DB_SECRET="[REDACTED]"\nX_PASSWORD="[REDACTED]"',
        ),
        ("PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", 'PrivateKey = "[REDACTED]"'),
        ("svc:\n  api_key: abc\n  port: 1", 'svc:\n  api_key: "[REDACTED]"\n  port: 1'),
        ("password: |\n  line1\n  line2\nb: 1", "password: |\n  [REDACTED]\nb: 1"),
        ("- name: DB_PASSWORD\n  value: hunter2\n- x", '- name: DB_PASSWORD\n  value: "[REDACTED]"\n- x'),
        ("AccountKey=ab+/==;EndpointSuffix=core", 'AccountKey="[REDACTED]";EndpointSuffix=core'),
        ("Server=x;Pwd=z;Database=d", 'Server=x;Pwd="[REDACTED]";Database=d'),
        ("//r.example/:_authToken=abcdef", '//r.example/:_authToken="[REDACTED]"'),
        ("mysql --password hunter2 -u x", "mysql --password [REDACTED] -u x"),
        ('["--token", "abc", "x"]', '["--token", "[REDACTED]", "x"]'),
        ("machine h login me password hunter2", "machine h login me password [REDACTED]"),
        ("<password>hunter2</password>", "<password>[REDACTED]</password>"),
        ('if (password == "hunter2") {', 'if (password == "[REDACTED]") {'),
        ("connect(password='x', port=1)", "connect(password='[REDACTED]', port=1)"),
        ("curl -u me:hunter2 http://x", "curl -u me:[REDACTED] http://x"),
        ("https://x/y?token=abc&x=1 rest", "https://x/y?token=[REDACTED]&x=1 rest"),
        ("postgres://u:p@h/db", "postgres://u:[REDACTED]@h/db"),
        ("redis://:p@ss@h:1", "redis://:[REDACTED]@h:1"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [REDACTED]"),
        ('{"auth":"dXNlcjpwYXNzd29yZA=="}', '{"auth":"[REDACTED]"}'),
        ("the password is hunter22x, ok?", "the password is [REDACTED], ok?"),
        ("use password: hunter2 for the db", 'use password: "[REDACTED]" for the db'),
        ("\u6211\u7684\u5bc6\u7801\uff1ahunter2", '\u6211\u7684\u5bc6\u7801\uff1a"[REDACTED]"'),
        # text that holds JSON, as it stands in logs
        ('"{\\"password\\":\\"x\\",\\"n\\":3}"', '"{\\"password\\":\\"[REDACTED]\\",\\"n\\":3}"'),
    ],
)
def test_an_assigned_secret_is_replaced_and_its_surroundings_stay(text, expected):
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "reset your password",
        "the token: see below for it",
        "the password is required",
        "the token is base64-encoded",
        "max_tokens: 4096 token_count=3 tokens: 5",
        "primary_key = id, cache_key: x, keyboard=us",
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "password=${DB_PASS} token=$TOKEN",
        "token: {{ vault_token }}",
        'password = os.environ["DB_PASSWORD"]',
        "def f(password: str, token: Optional[str] = None):",
        "token => { return 1 }",
        "PWD=/home/x",
        "if token == x: pass",
        "task-abcdefghijklmnopqrstuvwxyz",
        "Bearer authentication",
        "Basic authentication is off",
        "pypi-publish-workflow-for-the-library",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "https://host:8080/path@v2",
        "--- PASS: TestLogin (0.00s)",
        "auth: true",
        "Token::new(x)",
    ],
)
def test_ordinary_text_and_documented_examples_stay(text):  # spec case 23
    assert redact(text) == text
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "template",
    [
        "{}",
        "description: {}",
        '{{"description": "{}"}}',
        "see {}.",
        "log\\n{}\\n",
        "\x1b[32m{}\x1b[0m",
        "\u8bf7\u7528{}\u3002",
        "x={}&y=1",
    ],
)
def test_each_kind_of_token_goes_from_neutral_places(planted, template):  # spec cases 20 and 22
    kind, value = planted
    text = template.format(value)
    redacted = redact(text)
    assert value not in redacted
    assert value[8:] not in redacted
    assert f"[REDACTED:{kind}]" in redacted
    assert redact(redacted) == redacted
    assert [secret.kind for secret in find_secrets(text)] == [kind]


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "])
@pytest.mark.parametrize("end", ["\n", "\\n", "\r\n"])
def test_private_keys_go_whole(label, end):
    block = " BLOCK" if label == "PGP " else ""
    name = f"{label}PRIVATE KEY{block}-----"
    key = f"-----BEGIN {name}{end}{BASE64_LINE}{end}AbC={end}-----END {name}"
    assert redact(f"before {key} after") == "before [REDACTED:private-key] after"


def test_marks_of_private_keys_in_different_fields_are_no_one_key():
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    for value in ({"a": begin, end: None}, {"a": begin, "b": end}, {"a": [begin], "b": end}, [[begin, "x"], [end]]):
        json.loads(redact(json.dumps(value)))
    assert json.loads(redact(json.dumps({"a": [begin, BASE64_LINE, end], "b": 1}))) == {
        "a": ["[REDACTED:private-key]"],
        "b": 1,
    }


def test_private_keys_that_were_cut_go_too():
    whole = f"-----BEGIN PRIVATE KEY-----\n{BASE64_LINE}\n{BASE64_LINE}\nTUlJRXZR\n-----END PRIVATE KEY-----"
    assert BASE64_LINE[:30] not in redact(whole[:-40])
    assert "TUlJRXZR" not in redact(whole[:-30])
    assert BASE64_LINE[30:] not in redact(whole[40:])
    assert redact("it begins with -----BEGIN PRIVATE KEY----- and so on").endswith("] and so on")
    pieces = f'k = "-----BEGIN RSA PRIVATE KEY-----\\n" +\n "{BASE64_LINE}\\n" +\n "-----END RSA PRIVATE KEY-----"'
    assert redact(pieces) == 'k = "[REDACTED:private-key]"'


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
        "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
    ],
)
def test_webhooks_go_and_their_host_stays(url):
    redacted = redact(f"post to {url} now")
    assert "abcdefghij" not in redacted
    assert redacted.startswith(url[:20].join(["post to ", ""]))


def test_secrets_are_found_by_line_and_kind_and_their_value_is_not_told(planted_all):
    lines = ["nothing here", f"a {planted_all['npm-token']}", "", "password: hunter2", f"b {planted_all['jwt']}"]
    found = find_secrets("\n".join(lines))
    assert found == [(2, "npm-token"), (4, "assignment"), (5, "jwt")]
    assert find_secrets(redact("\n".join(lines))) == []


def test_lines_are_counted_right_behind_a_private_key():
    text = f"x\n-----BEGIN PRIVATE KEY-----\n{BASE64_LINE}\n-----END PRIVATE KEY-----\npassword: y"
    assert find_secrets(text) == [(2, "private-key"), (5, "assignment")]


WORDS = (
    'password token api_key " \' ` { } [ ] : = , # \\ \\" secret PrivateKey STRIPE_KEY hunter2 sk- AKIA ghp_ npm_ :// '
    "user: pw@ host | > -- value name eyJ . ; ( ) $ ${A} => := == the see is & ? <password> </ login auth \\n \\u0041 "
    'null true 1 [REDACTED] "[REDACTED]" -----END curl abcdefghijklmnopqrst ABCDEFGHIJKLMNOP dXNlcjpwYXNz '
    "<private> </private> \x1b[0m \u5bc6\u7801 \uff1a"
)
PIECES = st.sampled_from(
    [
        *WORDS.split(),
        *(" ", "\n", "\t", "\r", "  ", " #", "Bearer ", "Basic ", "Authorization: ", "curl -u ", "\ud800"),
        *("0123456789" * 4, BASE64_LINE, "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    ]
)
MESS = st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)
KEYS = (
    st.sampled_from(["password", "my token", "api_key", "a", "name", "value", "auth", "k: password=", "--token"]) | MESS
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | MESS,
    lambda child: st.lists(child, max_size=4) | st.dictionaries(KEYS, child, max_size=4),
    max_leaves=10,
)
SPACING = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " \n:\t"), (",", " : ")])
MANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(MESS)
def test_any_text_can_be_redacted_and_twice_is_once(text):
    once = redact(text)
    assert redact(once) == once
    assert all(secret.line >= 1 for secret in find_secrets(text))


@MANY
@given(JSON, SPACING, st.booleans(), st.none() | st.integers(0, 2))
def test_json_stays_json(value, spacing, ascii_only, indent):
    text = json.dumps(value, separators=spacing, ensure_ascii=ascii_only, indent=indent)
    once = redact(text)
    json.loads(once)
    tool = redact_item(_tool(text)).tool
    json.loads(tool.input)
    json.loads(tool.output)
    assert redact_item(_tool(tool.input)).tool.input == tool.input


@MANY
@given(st.sampled_from(["password", "api_key", "client_secret", "x_token"]), MESS, MESS)
def test_a_secret_in_a_field_of_json_never_survives(name, before, after):
    secret = "Zq8" + "vT4mWx2" * 3
    text = json.dumps({"a": before, name: f"x{secret}", "b": [after, {name: secret}]})
    assert secret not in redact(text)
    assert secret not in redact_item(_tool(text)).text


def _tool(text):
    return Item(tier="tool", role="tool", position=1, tool=ToolUse(id="1", input=text, output=text))


def test_a_long_structure_with_brackets_in_its_text_is_replaced_whole():
    for long in ("x" * 5_000 + "}", "}" + "x" * 5_000):
        text = json.dumps({"secret": {"a": long, "b": 1}, "c": 2})
        assert json.loads(redact(text)) == {"secret": "[REDACTED]", "c": 2}


def test_what_one_replacement_lays_bare_is_replaced_too(planted_all):
    aws, github = planted_all["aws-key"], planted_all["github-token ghp"]
    assert redact(f"{aws}{github}") == "[REDACTED:aws-key][REDACTED:github-token]"
    marked = "curl -u [REDACTED:private-key] https://[REDACTED:jwt]@h"
    assert redact(marked) == marked


def test_a_value_within_a_string_ends_with_the_string():
    text = json.dumps(["'password': [", "a]", "'token': {b", "c}"])
    assert json.loads(redact(text)) == ["'password': [REDACTED]", "a]", "'token': [REDACTED]", "c}"]


def test_the_letter_of_a_line_end_is_no_part_of_the_token_behind_it(planted_all):
    text = json.dumps({"a": "x\n" + planted_all["npm-token"][1:], "b": "\r" + planted_all["stripe-key restricted"][1:]})
    assert json.loads(redact(text)) == {"a": "x\n[REDACTED:npm-token]", "b": "\r[REDACTED:stripe-key]"}


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "{" * 150_000,
        '"' * 150_001,
        "\\" * 200_000,
        "password:{" * 20_000,
        'password="' * 20_000,
        '"{' + "password=a," * 20_000,
        '"' + "the password: see a " * 15_000,
        "the password: see a " * 15_000,
        "sk-proj-" * 30_000,
        "-eyJabcdefgh" * 25_000,
        "pypi-" * 50_000,
        "://a:" * 50_000,
        "-----BEGIN PRIVATE KEY-----" * 8_000,
        "-----END PRIVATE KEY-----" * 8_000,
        "<private>" * 30_000,
        ("password" + " " * 100) * 2_500,
        "password=[REDACTED]\n" * 12_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_costs_linear_time(text):
    # Each of these takes minutes to hours when the work grows with the square of the length.
    redact(text)
    strip_private(text)


def test_every_string_leaf_is_redacted_and_everything_below_a_secret_name(planted_all):
    key = planted_all["github-token ghp"]
    value = {"a": [f"x {key}", ("y", key)], "apiKey": 12, "accessToken": {"deep": "z"}, "n": 3, "password": "", key: 1}
    assert redact_strings(value) == {
        "a": ["x [REDACTED:github-token]", ("y", "[REDACTED:github-token]")],
        "apiKey": "[REDACTED]",
        "accessToken": "[REDACTED]",
        "n": 3,
        "password": "",
        "[REDACTED:github-token]": 1,
    }
    assert redact_strings({"name": "DB_PASSWORD", "value": "x"}) == {"name": "DB_PASSWORD", "value": "[REDACTED]"}
    assert redact_strings(7) == 7


def test_an_item_is_redacted_in_all_its_texts(planted_all):
    key = planted_all["stripe-key"]
    item = Item(tier="human", role="user", position=5, parts=(Part(kind="text", text=f"use {key}"), Part(kind="image")))
    assert redact_item(item).text == "use [REDACTED:stripe-key]\n[image omitted]"
    tool = redact_item(_tool(f"run {key}")).tool
    assert (tool.input, tool.output) == ("run [REDACTED:stripe-key]",) * 2


def test_an_item_without_secrets_is_the_same_object():
    item = _tool('{"cmd": "echo \\"a\\" && ls C:\\\\tmp"}')
    assert redact_item(item) is item


@pytest.mark.parametrize(
    "text",
    [
        '{"pass\\u0077ord": "hunter2", "n": 1.50}',
        '{"cmd": "export A_TOKEN=hunter2\\nmake"}',
        '{"body": "{\\"password\\": \\"hunter2\\"}"}',
        '{"body": "{\\"b\\": \\"{\\\\\\"password\\\\\\": \\\\\\"hunter2\\\\\\"}\\"}"}',
        '["postgres:\\/\\/u:hunter2@h"]',
        '"\\u0070assword: hunter2"',
    ],
)
def test_no_escape_in_a_tools_json_hides_a_secret(text):
    tool = redact_item(_tool(text)).tool
    assert "hunter2" in json.dumps(json.loads(text)) or "hunter2" in text
    assert "hunter2" not in tool.input
    json.loads(tool.input)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ["<private>x"], "b": Infinity, "c": -Infinity}',
        '{"a": "<private>x", "b": 1e999, "c": -1e999}',
        "[" * 600 + '"<private>x"' + "]" * 600,
        '{"a":' * 600 + '"pass\\u0077ord: x"' + "}" * 600,
    ],
    ids=lambda text: text[:20],
)
def test_odd_numbers_and_deep_nesting_keep_a_tools_json_valid(text):
    json.loads(text)
    tool = redact_item(_tool(text)).tool
    json.loads(tool.input)
    assert ("Infinity" in tool.input) == ("Infinity" in text)
    assert "x" not in tool.input.replace("x999", "")


def test_redacted_commands_keep_the_lines_that_hold_no_secret():
    tool = redact_item(_tool('{"cmd":"export A_TOKEN=hunter2\\nmake all"}')).tool
    assert json.loads(tool.input)["cmd"] == 'export A_TOKEN="[REDACTED]"\nmake all'


def test_half_characters_in_a_tools_json_stay_valid():  # spec case 17
    tool = redact_item(_tool('{"a": "\\ud83d", "b": "password: x\\n"}')).tool
    assert json.loads(tool.input)["a"] == "\ud83d"
    tool.input.encode()
