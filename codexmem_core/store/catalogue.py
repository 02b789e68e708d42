"""What all memories share, as one object."""

from __future__ import annotations

from codexmem_core.store.hooked import HookedSessions
from codexmem_core.store.journal import Journal
from codexmem_core.store.ledger import Ledger
from codexmem_core.store.modes import Modes
from codexmem_core.store.sessions import KnownSessions
from codexmem_core.store.tombstones import TombstoneRows


class Catalogue(KnownSessions, HookedSessions, Modes, Ledger, Journal, TombstoneRows):
    """The catalogue: ``Catalogue(open_catalogue(path, …), clock)``.

    Each method is one transaction or one consistent read. Times are UNIX milliseconds; errors of the file are
    StoreErrors.
    """
