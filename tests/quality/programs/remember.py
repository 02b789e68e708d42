"""Run the product over a folder as a child, and tell its report and its peak memory: ``remember.py FOLDER PLACE``."""

import json
import resource
import subprocess
import sys
from pathlib import Path

KIBIBYTES = 1024 if sys.platform == "darwin" else 1

folder, place = sys.argv[1], Path(sys.argv[2])
codexmem = [sys.executable, "-m", "codexmem_core.cli", "--home", place / "home", "--config", place / "config.toml"]
done = subprocess.run(
    [*map(str, codexmem), "--json", "run", "--sessions", folder, "--now"], capture_output=True, check=True
)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // KIBIBYTES
sys.stdout.write(json.dumps({"report": json.loads(done.stdout), "peak_kib": peak}))
