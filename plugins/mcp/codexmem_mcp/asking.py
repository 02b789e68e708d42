"""Questions to the user, through the client: MCP calls it elicitation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.from_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

YES = "confirm"
SCHEMA = {
    "type": "object",
    "properties": {YES: {"type": "boolean", "title": "Yes, do it", "default": False}},
    "required": [YES],
}
"""One box to tick: agreeing takes more than closing a window."""


class Asking:
    """Puts the questions of one call to the user.

    Up to protocol 2025-11-25 a server asks in the middle of a call. From 2026-07-28 on it may not: the call ends with
    what has to be asked, and the client makes it again with the answer. Until then the answer is no, so that nothing
    happens.
    """

    def __init__(self, context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> None:
        self._context = context
        self._answers = params.input_responses or {}
        self.open_question = ""
        """What must be asked before the call can be made again."""

    @staticmethod
    def possible(context: ServerRequestContext[Any]) -> bool:
        """Whether the client shows forms to its user. Naming no kind means forms (MCP 2025-06-18)."""
        capabilities = context.session.client_capabilities
        elicitation = capabilities.elicitation if capabilities else None
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    def ask(self, question: str) -> bool:
        """Ask and wait, from the call's own thread. Raises RuntimeError when the user cannot be asked after all."""
        if self._context.session.can_send_request:
            return anyio.from_thread.run(self._elicit, question)
        answer = self._answers.get(YES)
        if answer is None:
            self.open_question = question
            return False
        return isinstance(answer, types.ElicitResult) and _agreed(answer)

    def required(self) -> types.InputRequiredResult:
        """The answer to a call that needs the user's word first."""
        params = types.ElicitRequestFormParams(message=self.open_question, requested_schema=SCHEMA)
        return types.InputRequiredResult(input_requests={YES: types.ElicitRequest(params=params)})

    async def _elicit(self, question: str) -> bool:
        try:
            answer = await self._context.session.elicit_form(question, SCHEMA, self._context.request_id)
        except MCPError as error:
            raise RuntimeError(f"the user could not be asked ({error})") from error
        return _agreed(answer)


def _agreed(answer: types.ElicitResult) -> bool:
    return answer.action == "accept" and (answer.content or {}).get(YES) is True
