"""Kinds of databases: their migrations, their table classes, and what is really in a file."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from codexmem_core.store.tables import CATALOGUE_SALVAGED, MEMORY_SALVAGED, catalogue_tables, memory_tables

if TYPE_CHECKING:
    import sqlite3

HISTORY = "schema_migration"
"""Table in which ``playhouse.migrations`` records what it applied."""

Columns = Mapping[str, frozenset[str]]
"""Table → its columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A kind of database."""

    name: str
    migrations: str
    """Folder of the numbered scripts."""
    tables: Callable[[Any], Any]
    """Makes the table classes for one peewee database; never shared between two."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """FULL where a row must survive a power cut, because its source is deleted after the commit."""
    salvaged: tuple[str, ...] = ()
    """Tables whose rows are carried over from a damaged file as far as they can be read; each row stands alone."""

    def scripts(self) -> tuple[str, ...]:
        """Names of the migrations, in order."""
        found = glob.glob("[0-9]*.py", root_dir=self.migrations)
        return tuple(sorted(name.removesuffix(".py") for name in found))


_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")

MEMORY = Schema(
    name="memory",
    migrations=os.path.join(_FOLDER, "memory"),
    tables=memory_tables,
    salvaged=MEMORY_SALVAGED,
)
CATALOGUE = Schema(
    name="catalogue",
    migrations=os.path.join(_FOLDER, "catalogue"),
    tables=catalogue_tables,
    synchronous="FULL",
    salvaged=CATALOGUE_SALVAGED,
)


def applied(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Names of the migrations that the file says were applied, in order."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (HISTORY,)).fetchone()
    if known is None:
        return ()
    return tuple(sorted(str(row[0]) for row in connection.execute(f"SELECT name FROM {HISTORY}")))  # noqa: S608


def columns(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Tables and columns that are really there, the history aside."""
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND m.name <> ?",
        (HISTORY,),
    ):
        found.setdefault(table, set()).add(column)
    return {table: frozenset(names) for table, names in found.items()}


def declared(tables: Any) -> dict[str, frozenset[str]]:
    """Tables and columns that the table classes declare."""
    return {
        model._meta.table_name: frozenset(field.column_name for field in model._meta.sorted_fields)  # noqa: SLF001 - peewee's documented name
        for model in tables
    }


def missing(wanted: Columns, there: Columns) -> tuple[str, str] | None:
    """The first (table, column) that is wanted and not there; the column is empty when the whole table is missing."""
    for table in sorted(wanted):
        if table not in there:
            return table, ""
        absent = sorted(wanted[table] - there[table])
        if absent:
            return table, absent[0]
    return None
