"""One memory's jobs and rows, as one object."""

from __future__ import annotations

from codexmem_core.store.adopting import Adoptions
from codexmem_core.store.consolidations import Consolidations
from codexmem_core.store.extractions import Extractions
from codexmem_core.store.forgetting import Forgettings
from codexmem_core.store.outputs import Outputs
from codexmem_core.store.snapshots import Snapshots


class Jobs(Extractions, Consolidations, Outputs, Snapshots, Forgettings, Adoptions):
    """The job engine of one memory: ``Jobs(open_memory(path, …), clock)``.

    Each method is one transaction or one consistent read. Jobs' own times are UNIX seconds, watermarks and everything
    about sessions UNIX milliseconds; errors of the file are StoreErrors.
    """
