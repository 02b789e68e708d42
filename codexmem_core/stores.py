"""The databases of one home, each opened when it is first wanted and shared from then on."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Clock, Log

    from codexmem_core.paths import Home
    from codexmem_core.services.log import LogBook
    from codexmem_core.store.catalogue import Catalogue
    from codexmem_core.store.database import Database
    from codexmem_core.store.deliveries import Deliveries
    from codexmem_core.store.jobs import Jobs


class Stores:
    """What the engine keeps. Threads may share it; their connections are their own."""

    def __init__(self, home: Home, clock: Clock, log_book: LogBook) -> None:
        self.home = home
        self.clock = clock
        self.log_book = log_book
        self._databases: dict[str, Database] = {}
        self._opening = threading.Lock()

    @cached_property
    def catalogue(self) -> Catalogue:
        """Sessions, modes, usage."""
        from codexmem_core.store.catalogue import Catalogue

        return Catalogue(self._catalogue_database, self.clock)

    @cached_property
    def deliveries(self) -> Deliveries:
        """Events on their way to plugins."""
        from codexmem_core.store.deliveries import Deliveries

        return Deliveries(self._catalogue_database, self.clock)

    @cached_property
    def _catalogue_database(self) -> Database:
        from codexmem_core.store.database import open_catalogue

        self.make_home()
        return open_catalogue(self.home.catalogue, backups=self.home.backups, clock=self.clock)

    @contextmanager
    def jobs_at(self, path: str, *, log: str = "store") -> Iterator[Jobs]:
        """The same of a database file, whether or not its memory is installed."""
        from codexmem_core.store.database import open_memory
        from codexmem_core.store.jobs import Jobs

        with self._opening:
            database = self._databases.get(path)
            if database is None:
                self.make_home()
                database = open_memory(path, backups=self.home.backups, clock=self.clock)
                self._databases[path] = database
                for notice in database.notices:
                    self.log(log).warning(notice)
        yield Jobs(database, self.clock)

    def make_home(self) -> None:
        """The home is the user's alone."""
        try:
            os.makedirs(self.home.root, mode=0o700, exist_ok=True)
        except OSError as error:
            from codexmem_core.store.errors import StoreError

            raise StoreError(
                f"{self.home.root} cannot be made ({error.strerror}): name another folder with --home or CODEXMEM_HOME"
            ) from error

    def log(self, name: str) -> Log:
        """A log of the engine's own parts."""
        return self.log_book.bound(name)

    @property
    def store_notices(self) -> tuple[str, ...]:
        """What the catalogue's file has to tell."""
        database: Database | None = self.__dict__.get("_catalogue_database")
        return database.notices if database else ()

    def close_stores(self) -> None:
        """Give files back."""
        for database in (self.__dict__.get("_catalogue_database"), *self._databases.values()):
            if database is not None:
                database.close()
        self._databases.clear()
