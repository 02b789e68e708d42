"""What the tests of several hosts need."""

import pytest


@pytest.fixture
def guarded_services(codexmem_services, monkeypatch):
    """The engine's own path guard and line reader, which read compressed files."""
    from codexmem_core.safety.files import GuardedFolder

    monkeypatch.setattr(
        codexmem_services,
        "open_folder",
        lambda root, *, write=False: GuardedFolder(root, write=write, links=not write),
    )
    return codexmem_services
