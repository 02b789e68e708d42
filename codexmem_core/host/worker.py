"""``python -I -m codexmem_core.host.worker HOME CONFIG``: what the shim starts."""

import sys

from codexmem_core.worker.main import main

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
