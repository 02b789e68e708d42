"""What a hook may raise on purpose. Any other exception counts as the plugin's failure, in its own lane."""

from typing import Literal

from codexmem_hookspecs.values.models import Usage

RefusalKind = Literal["capacity", "credentials", "overflow", "invalid", "transport"]


class Unreadable(Exception):  # noqa: N818 - a state that a caller handles, named like the contract names it
    """The transcript cannot be read now. Not the same as an empty one: nothing may be forgotten because of it."""


class Rewritten(Exception):  # noqa: N818 - see Unreadable
    """What stood before the given position is not there any more; the caller must start again from 0."""


class TryLater(Exception):  # noqa: N818 - see Unreadable
    """Deliver this event again, to this plugin only, after ``after_s`` seconds."""

    def __init__(self, reason: str, after_s: float = 60.0) -> None:
        super().__init__(reason)
        self.after_s = after_s


class ModelRefused(Exception):  # noqa: N818 - see Unreadable
    """A model gave no usable answer; the kind says what to do about it.

    ``capacity``: quota or rate limit, wait ``retry_after_s`` (0: not said). ``credentials``: nothing more until they
    change. ``overflow``: the input is too long. ``invalid``: the answer is not what was asked for. ``transport``: no
    answer arrived.
    """

    def __init__(self, message: str, kind: RefusalKind, retry_after_s: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.usage = usage or Usage()
        """What the call cost all the same."""


class Refused(Exception):  # noqa: N818 - see Unreadable
    """What must not be touched, the message says which and where.

    A path leaves its folder, is a link, a dotfile or no regular file; a host's file is not what it should be.
    """
