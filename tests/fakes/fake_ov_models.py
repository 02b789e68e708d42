"""The models behind an OpenViking server: embeddings of words, and what its prompts want to hear (server 0.5.2)."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct

from fake_openai import FakeOpenAI

SIZE = 64
"""Numbers of an embedding; the server is told."""
CHAT = '"messages"'
"""What to ``match`` for a step that is meant for the chat model and not for the embeddings."""
OVERVIEW = ("Current State", "Task & Goals", "Key Facts & Decisions", "Files & Context", "Errors & Corrections")


class FakeOvModels(FakeOpenAI):
    """Without a script both models work."""

    def unscripted(self, asked):
        return {"text": _reply(asked.raw)}

    def payload(self, asked, step, number):
        if asked.path.endswith("/embeddings"):
            return _embeddings(asked.body)
        return super().payload(asked, step, number)


def _reply(raw):
    """What the server can use: a program that extracts nothing, or an overview that repeats the numbered words said."""
    if "restricted Python memory SDK" in raw:
        return "sdk.commit()"
    if "Session Title" in raw:
        said = sorted(set(re.findall(r"\b[a-z]+-\d+\b", raw)))
        title = f"## Session Title\nAn overview of {', '.join(said) or 'nothing'}"
        return "\n\n".join([title, *(f"## {name}\n- nothing more" for name in OVERVIEW), "## Open Issues\n- none"])
    return "A summary."


def _embeddings(body):
    asked = body.get("input", "")
    texts = asked if isinstance(asked, list) and not (asked and isinstance(asked[0], int)) else [asked]
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": at, "embedding": _packed(_vector(text)) if packed else _vector(text)}
        for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": body.get("model"), "data": data, "usage": usage}


def _vector(text):
    """Of length one; texts that share words lie near each other."""
    found = [0.0] * SIZE
    for word in re.findall(r"\w+", text if isinstance(text, str) else json.dumps(text)) or ["empty"]:
        digest = hashlib.sha256(word.lower().encode()).digest()
        found[digest[0] % SIZE] += 1.0 if digest[1] & 1 else -1.0
    length = math.sqrt(sum(number * number for number in found))
    return [number / length for number in found] if length else [1.0] + [0.0] * (SIZE - 1)


def _packed(vector):
    return base64.b64encode(struct.pack(f"<{SIZE}f", *vector)).decode()
