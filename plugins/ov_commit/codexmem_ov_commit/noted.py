"""A fact about a server that holds for a while, noted down with its time so that a new worker knows it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services


class Noted:
    """One fact, a file of that name in the plugin's folder. Of another server nothing is known."""

    def __init__(self, services: Services, name: str, url: str) -> None:
        self._services = services
        self._name = name
        self._url = url

    def holds(self, for_ms: int) -> bool:
        """Whether it was noted less than so long ago."""
        try:
            at_ms, _, url = self._services.folder.read(self._name, 4_096).decode("utf-8", "replace").partition(" ")
        except (OSError, Refused):
            return False
        known = url == self._url and at_ms.isascii() and at_ms.isdigit()
        return known and 0 <= self._services.clock.now_ms() - int(at_ms) < for_ms

    def note(self) -> None:
        """It is so now. What cannot be written down is learned again."""
        self._change(f"{self._services.clock.now_ms()} {self._url}".encode())

    def clear(self) -> None:
        """It is not so."""
        self._change(b"")

    def _change(self, content: bytes) -> None:
        folder = self._services.folder
        try:
            if content:
                folder.write(self._name, content)
            else:
                folder.remove(self._name)
        except (OSError, Refused) as error:
            self._services.log.info("a fact about the server cannot be noted down", fact=self._name, reason=str(error))
