"""Measure what is remembered (``python3 contrib/dev.py quality``); README.md tells how."""

import sys

from codexmem_quality.command import main

sys.exit(main())
