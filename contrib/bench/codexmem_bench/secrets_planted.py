"""Secrets to plant: shapes that every reader must know, values made up from the seed."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

# Written in halves, so that no scanner takes this file for a leak.
_PREFIXES = {
    "openai": "sk" + "-",
    "anthropic": "sk" + "-ant-",
    "github": "gh" + "p_",
    "slack": "xo" + "xb-",
    "aws": "AK" + "IA",
}
_SHOWN = ("bearer", "pem", "assignment", "json")
_UPPER_AND_DIGITS = string.ascii_uppercase + string.digits


class PlantedSecrets:
    """Makes secrets and remembers them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.values: list[str] = []

    def plant(self) -> str:
        """Text that holds a new secret."""
        kind = self._random.choice((*_PREFIXES, *_SHOWN))
        alphabet, length = (_UPPER_AND_DIGITS, 16) if kind == "aws" else (string.ascii_letters + string.digits, 40)
        value = _PREFIXES.get(kind, "") + "".join(self._random.choices(alphabet, k=length))
        self.values.append(value)
        return _shown(kind, value)


def _shown(kind: str, value: str) -> str:
    match kind:
        case "bearer":
            return f"curl -H 'Authorization: Bearer {value}' https://example.invalid/v1"
        case "pem":
            return f"-----BEGIN RSA PRIVATE KEY-----\n{value}\n-----END RSA PRIVATE KEY-----"
        case "assignment":
            return f"export DB_PASSWORD={value}"
        case "json":
            return json.dumps({"api_key": value, "n": 3})
    return f"using {value} for now"
