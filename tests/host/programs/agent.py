"""A host: runs the hooks that it is given, one JSON object ``{"command", "payload"}`` a line, until it is killed."""

import json
import subprocess
import sys

for line in sys.stdin:
    asked = json.loads(line)
    sent = json.dumps(asked["payload"]).encode()
    done = subprocess.run(asked["command"], input=sent, capture_output=True, check=False)
    sys.stdout.write(json.dumps(done.stdout.decode()) + "\n")
    sys.stdout.flush()
