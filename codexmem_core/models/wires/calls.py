"""Tool calls as models write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.models import ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping


def tool_call(id: str, name: str, arguments: object) -> ToolCall:  # noqa: A002 - the field's name
    """A call from arguments that are JSON text, or an object already. Never raises: what is wrong is its problem."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return ToolCall(id=id, name=name, problem="the arguments are no valid JSON")
    if not isinstance(arguments, dict):
        return ToolCall(id=id, name=name, problem="the arguments are no JSON object")
    return ToolCall(id=id, name=name, arguments=arguments)


def written(arguments: Mapping[str, object]) -> str:
    """Arguments as JSON text."""
    return json.dumps(dict(arguments), ensure_ascii=False)
