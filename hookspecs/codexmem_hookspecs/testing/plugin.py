"""pytest fixtures of the test kit. Imports nothing of the kit until a test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from codexmem_hookspecs.testing.model import ScriptedModel
    from codexmem_hookspecs.testing.services import PlainServices

pytest.register_assert_rewrite(
    *(f"codexmem_hookspecs.testing.{name}" for name in ("file_host", "host", "interop", "memory", "setup", "tools"))
)


@pytest.fixture
def codexmem_home(tmp_path: Path) -> str:
    """Absolute path of a fresh folder that stands for the user's home."""
    home = tmp_path / "home"
    home.mkdir()
    return str(home)


@pytest.fixture
def codexmem_model() -> ScriptedModel:
    """A model whose replies the test sets."""
    from codexmem_hookspecs.testing.model import ScriptedModel

    return ScriptedModel()


@pytest.fixture
def codexmem_services(codexmem_home: str, codexmem_model: ScriptedModel) -> PlainServices:
    """Services on that home, with that model."""
    from codexmem_hookspecs.testing.services import PlainServices

    return PlainServices(codexmem_home, models=codexmem_model)
