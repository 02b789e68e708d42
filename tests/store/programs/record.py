# ruff: noqa: T201 - programs answer on their output
"""Record sessions again and again, each at a place that the other recorder uses for it too."""

import json
import sys

from codexmem_hookspecs.values.capture import Session

from codexmem_core.store.catalogue import Catalogue
from codexmem_core.store.database import open_catalogue


class FixedClock:
    def now_ms(self):
        return 1_767_225_600_000


task = json.loads(sys.argv[1])
database = open_catalogue(task["home"] + "/catalog.db", backups=task["home"] + "/backups", clock=FixedClock())
catalogue = Catalogue(database, FixedClock())
for turn in range(task["turns"]):
    places = ("a", "b") if turn % 2 else ("b", "a")
    catalogue.record_sessions(
        Session(host="codex", id=f"s{n}", locator=f"/{places[n % 2]}/{n // 2}", stamp=str(turn), revision=str(turn))
        for n in range(20)
    )
database.close()
print(json.dumps({}))
