"""``python -m codexmem_core.cli``."""

from codexmem_core.cli import main

main()
