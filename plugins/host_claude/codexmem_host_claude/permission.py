"""The rule by which Claude Code lets its agents call our tools. Without one it refuses where nobody can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import document, text_of_file, written
from codexmem_hookspecs.json_text import with_value, without
from codexmem_hookspecs.values.setup import MCP_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE = f"mcp__{MCP_NAME}"
"""All tools of our server. What deletes asks the user itself, whatever is allowed."""
PERMISSIONS, ALLOW = "permissions", "allow"


def with_rule(path: str, content: bytes | None, *, wanted: bool) -> bytes | None:
    """The settings with the rule or without it; one of the user's own against our tools stands. Raises Refused."""
    said = document(path, content).get(PERMISSIONS, {})
    if not isinstance(said, dict):
        raise Refused(f"{path} is not changed: {PERMISSIONS} is no object")
    allowed = _listed(path, said, ALLOW)
    text = text_of_file(path, content)
    if wanted:
        if RULE in allowed or any(RULE in _listed(path, said, other) for other in ("ask", "deny")):
            return content
        return written(with_value(text, (PERMISSIONS, ALLOW, len(allowed)), RULE))
    if RULE not in allowed:
        return content
    if len(allowed) > 1:
        return written(without(text, (PERMISSIONS, ALLOW, allowed.index(RULE))))
    return written(without(text, (PERMISSIONS, ALLOW) if len(said) > 1 else (PERMISSIONS,)))


def _listed(path: str, said: Mapping[str, object], name: str) -> list[object]:
    rules = said.get(name, [])
    if not isinstance(rules, list):
        raise Refused(f"{path} is not changed: {PERMISSIONS}.{name} is no list")
    return rules
