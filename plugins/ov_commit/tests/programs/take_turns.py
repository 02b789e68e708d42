"""Takes a session's lock again and again, and fails when it is not alone inside. With ``hold``: once, and keeps it."""

import os
import sys
import time

from codexmem_ov_commit.locks import session_lock

from codexmem_core.safety.files import GuardedFolder
from codexmem_core.services.clock import SystemClock
from codexmem_core.services.deadline import WorkDeadline

folder, session, turns = sys.argv[1:4]
inside = os.path.join(os.path.dirname(folder), "inside")
guarded = GuardedFolder(folder, write=True)
if turns == "hold":
    with session_lock(guarded, session, SystemClock(), WorkDeadline(120), wait_s=60) as held:
        print("held" if held else "not held", flush=True)  # noqa: T201 - what the test waits for
        time.sleep(120)
for _ in range(int(turns)):
    with session_lock(guarded, session, SystemClock(), WorkDeadline(120), wait_s=60) as held:
        if not held:
            sys.exit("not held within a minute")
        os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # raises when somebody else is inside
        time.sleep(0.002)
        os.unlink(inside)
