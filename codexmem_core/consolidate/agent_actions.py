"""For models that cannot call tools: the same five tools by one JSON object a reply."""

from __future__ import annotations

import json
import re

from codexmem_hookspecs.values.models import ToolCall

HOW_TO = """\
If you are offered these tools as functions, call them. If not, answer with one JSON object and nothing else, for example
{"tool": "read", "arguments": {"path": "MEMORY.md"}}, and you will be told the result. When everything is done, answer
{"tool": "done"}."""

DONE = "done"
_LOOKS_LIKE_ONE = re.compile(r'\{\s*"(?:tool|arguments)"')


def action_of(text: str) -> ToolCall | None:
    """The call that a reply asks for, None when it is plain words. ``problem`` tells of one that cannot be read.

    What stands around the object, such as a code fence, does not matter; of several the first counts.
    """
    begun = _LOOKS_LIKE_ONE.search(text)
    if begun is None:
        return None
    try:
        action, _ = json.JSONDecoder().raw_decode(text, begun.start())
    except (ValueError, RecursionError):
        return ToolCall(id="", name="", problem="the JSON object is cut off or not valid")
    name, arguments = action.get("tool"), action.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return ToolCall(id="", name="", problem='it must be {"tool": <name>, "arguments": {<name>: <value>}}')
    return ToolCall(id="", name=name, arguments=arguments)
