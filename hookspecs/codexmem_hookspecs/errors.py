"""What a hook may raise on purpose. Any other exception counts as the plugin's failure, in its own lane."""


class Unreadable(Exception):  # noqa: N818 - a state that a caller handles, named like the contract names it
    """The transcript cannot be read now. Not the same as an empty one: nothing may be forgotten because of it."""


class Rewritten(Exception):  # noqa: N818 - see Unreadable
    """What stood before the given position is not there any more; the caller must start again from 0."""


class TryLater(Exception):  # noqa: N818 - see Unreadable
    """Deliver this event again, to this plugin only, after ``after_s`` seconds."""

    def __init__(self, reason: str, after_s: float = 60.0) -> None:
        super().__init__(reason)
        self.after_s = after_s


class Refused(Exception):  # noqa: N818 - see Unreadable
    """A path leaves its folder, is a link, a dotfile or no regular file. The message says which and where."""
