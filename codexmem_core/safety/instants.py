"""Named instants at which a crash must lose nothing and double nothing.

They are audit events, so that they cost next to nothing and that only a fault-injecting run listens to them.
"""

import sys

EVENT = "codexmem.instant"


def instant(name: str) -> None:
    """Say that ``name`` (``rename:<what>:before``, ``commit:<what>:after``, …) is reached."""
    sys.audit(EVENT, name)
