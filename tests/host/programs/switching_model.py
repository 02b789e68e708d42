"""A model that switches learning off in the settings, its first argument, before it answers."""

import json
import os
import sys

settings = sys.argv[1]
sys.stdin.read()
with open(settings) as file:
    text = file.read().replace("generate_memories = true", "generate_memories = false")
draft = f"{settings}.{os.getpid()}"
with open(draft, "w") as file:
    file.write(text)
os.replace(draft, settings)
note = {"rollout_summary": "Something was said.", "rollout_slug": "said", "raw_memory": "# Said\n"}
sys.stdout.write(json.dumps(note))
