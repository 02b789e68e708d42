"""A worker to which finding its plugins takes until a file is there. ``HOME CONFIG``; the file's name is in GO_ON."""

import os
import sys
import time
from pathlib import Path

from codexmem_core.worker import engines, main

found = engines.installed


def slowly():
    """What is installed, in the end."""
    go_on = Path(os.environ["GO_ON"])
    go_on.with_name("go_on.waiting").touch()
    ends_at = time.monotonic() + 60.0
    while not go_on.exists() and time.monotonic() < ends_at:
        time.sleep(0.02)
    return found()


engines.installed = slowly

if __name__ == "__main__":
    main.main(sys.argv[1], sys.argv[2])
