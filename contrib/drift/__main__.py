"""python3 contrib/drift: see codex_drift.py."""

import sys

from codex_drift import main

sys.exit(main(sys.argv[1:]))
