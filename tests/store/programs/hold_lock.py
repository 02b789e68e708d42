# ruff: noqa: T201 - programs answer on their output
"""Hold the database's write lock for a while."""

import json
import sqlite3
import sys
import time

task = json.loads(sys.argv[1])
connection = sqlite3.connect(task["home"] + "/memory.db", isolation_level=None, timeout=30)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(task["seconds"])
connection.execute("COMMIT")
print(json.dumps({}))
