"""The rule that lets Claude Code's agents call our tools: never against the user, and taken out without a trace."""

import json

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_host_claude.permission import with_rule

RULE = "mcp__codexmem"


def allowed(content):
    return json.loads(content).get("permissions", {}).get("allow")


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"{}\n",
        b'{"model": "opus"}',
        b'{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Bash(make:*)"\n\t\t],\n\t\t"deny": []\n\t}\n}\n',
        b'{"permissions": {"deny": ["WebFetch"]}}',
    ],
)
def test_the_rule_comes_last_once_and_goes_without_a_trace(before):
    after = with_rule("s", before, wanted=True)
    assert allowed(after)[-1] == RULE
    assert with_rule("s", after, wanted=True) == after
    left = with_rule("s", after, wanted=False)
    assert left == (None if before == b"{}\n" else before)
    assert with_rule("s", left, wanted=False) == left


@pytest.mark.parametrize("kind", ["ask", "deny"])
def test_what_the_user_said_against_our_tools_stands(kind):
    before = json.dumps({"permissions": {kind: [RULE]}}).encode()
    assert with_rule("s", before, wanted=True) == before


@pytest.mark.parametrize("permissions", [[], "all", {"allow": RULE}, {"allow": [], "deny": {}}])
def test_permissions_of_another_shape_are_refused(permissions):
    before = json.dumps({"permissions": permissions}).encode()
    with pytest.raises(Refused, match="s is not changed: permissions"):
        with_rule("s", before, wanted=True)
