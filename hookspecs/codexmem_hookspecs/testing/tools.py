"""How every host shows tools and tells who calls them, as the part of :class:`HostContract` that is about tools."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import pytest

from codexmem_hookspecs.values.read import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar

    from codexmem_hookspecs.hosts import Host

NAMES = ("memory_search", "memory_read", "memory_list", "archive")
ODD_METAS: tuple[Mapping[str, object], ...] = (
    {},
    {"sessionId": 7, "session_id": ["x"]},
    {"x-codex-turn-metadata": []},
    {"a": {"b": None}},
)


class ToolsContract(ABC):
    """Set ``callers`` where the host tells which session calls."""

    callers: ClassVar[Sequence[tuple[Caller, Mapping[str, str], Mapping[str, bytes], str]]] = ()
    """Calls of a tool as the real host makes them: the caller, the environment, the host's files by absolute path, and
    the id of the session that called."""

    @abstractmethod
    def host(self) -> Host:
        """The host under test."""

    def test_every_tool_has_a_name_of_its_own(self) -> None:
        """A model calls it by that name, and by that name a call is known as ours."""
        shown = [self.host().tool_name(name) for name in NAMES]
        assert len(set(shown)) == len(NAMES)
        assert all(name in as_shown for name, as_shown in zip(NAMES, shown, strict=True))
        assert isinstance(self.host().gives_tools, bool)

    def test_recorded_calls_name_their_session(self) -> None:
        """The session decides which memory is read."""
        for caller, environ, files, session_id in self.callers:
            assert self.host().caller(caller, environ, files.get) == session_id

    @pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b"not json", b"\xff\xfe", b"[" * 100_000])
    def test_a_call_that_tells_nothing_is_nobodys(self, content: bytes | None) -> None:
        """Whatever stands in the host's files and came with the call: no error, and no session made up."""
        for meta in ODD_METAS:
            caller = Caller(host=self.host().name, cwd="/", parent=1, meta=meta)
            assert self.host().caller(caller, {"HOME": "/home/nobody"}, lambda _path: content) == ""
