"""Why a tool does not do what it was asked for."""


class ToolError(Exception):
    """The message is for whoever asked, an agent or a user: what was wrong and what would be right."""
