"""Seeded rollouts in the shape of Codex 0.171: who says what, and in which proportions.

As in real ones, a long head repeats in every session, every item is doubled as an event, tool outputs have a heavy tail
(up to 200,000 characters), and images, escape codes and several scripts occur.
"""

from __future__ import annotations

import base64
import json
from random import Random
from typing import TYPE_CHECKING, Any

from codexmem_bench.rollout_lines import RolloutLines
from codexmem_bench.secrets_planted import PlantedSecrets
from codexmem_bench.words import SENTENCES_CJK, WORDS, Prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

SAID_BY_USER, SAID_BY_AGENT, REASONED = 0.14, 0.34, 0.44
"""Cumulative shares of turns; the rest are tool calls."""
SECRET_IN_MESSAGE, SECRET_IN_OUTPUT, WITH_IMAGE = 0.05, 0.02, 0.04
LONGEST_OUTPUT = 200_000

JsonObject = dict[str, Any]


class Rollouts:
    """A stock of texts, from which any number of rollouts is made."""

    def __init__(self, seed: int) -> None:
        self._random = random = Random(seed)
        self._prose = prose = Prose(random)
        self._paths = [f"src/{random.choice(WORDS)}/{random.choice(WORDS)}_{number}.py" for number in range(400)]
        self._outputs = [self.output(int(min(LONGEST_OUTPUT, random.lognormvariate(7.3, 1.5)))) for _ in range(500)]
        self._instructions = prose.of_length(13_000)
        self._permissions = prose.of_length(12_000)
        self._tools = [self._tool(number) for number in range(9)]
        self.secrets = PlantedSecrets(random)

    def lines(self, session: str, began: datetime, size_bytes: int) -> Iterator[bytes]:
        """The rollout's lines with their ends, until it is about as long as that."""
        rollout = RolloutLines(session, began, f"/home/user/proj{self._random.randint(1, 12)}", self._random)
        written = 0
        for line in rollout.head(self._instructions, self._permissions, self._tools):
            written += len(line)
            yield line
        while written < size_bytes:
            for line in self._turn(rollout, large=size_bytes > 1_000_000):  # noqa: PLR2004 - a megabyte
                written += len(line)
                yield line
        yield rollout.event("task_complete", last_agent_message="All done.", duration_ms=576)

    def output(self, characters: int) -> str:
        """What a tool printed: search hits, JSON, log lines, coloured diffs, other scripts."""
        lines: list[str] = []
        length = 0
        while length < characters:
            lines.append(self._output_line())
            length += len(lines[-1]) + 1
        return "\n".join(lines)

    def identifier(self) -> str:
        """A session id."""
        digits = f"{self._random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def around(self, kilobytes: int) -> int:
        """A length near to that, in bytes, never less than the head and a few turns."""
        return int(max(45.0, self._random.gauss(kilobytes, kilobytes * 0.3)) * 1000)

    def _turn(self, rollout: RolloutLines, *, large: bool) -> Iterator[bytes]:
        random = self._random
        share = random.random()
        if share < SAID_BY_USER:
            text = self._prose.message()
            if random.random() < SECRET_IN_MESSAGE:
                text += "\n" + self.secrets.plant()
            image = ""
            if random.random() < WITH_IMAGE:
                image = base64.b64encode(
                    random.randbytes(random.randint(15_000, 300_000) if large else 15_000)
                ).decode()
            yield from rollout.said_by_user(text, image)
        elif share < SAID_BY_AGENT:
            yield from rollout.said_by_agent(self._prose.message())
        elif share < REASONED:
            yield rollout.reasoning(self._prose.message()[:120], base64.b64encode(random.randbytes(900)).decode())
        else:
            output = random.choice(self._outputs)
            if random.random() < SECRET_IN_OUTPUT:
                output += "\n" + self.secrets.plant()
            command = f"cd {rollout.cwd} && rg -n {random.choice(WORDS)} {random.choice(self._paths)} | head -50"
            yield from rollout.tool_call(command, output, custom=random.random() < 0.5)  # noqa: PLR2004 - a half

    def _output_line(self) -> str:
        random = self._random
        word = random.choice(WORDS)
        match random.choices(("hit", "json", "log", "diff", "cjk"), weights=(40, 20, 15, 15, 10))[0]:
            case "hit":
                return f"{random.choice(self._paths)}:{random.randint(1, 900)}: {self._prose.sentence()}"
            case "json":
                inner = {word: random.randint(0, 99_999), "ok": True, "path": f"C:\\tmp\\{random.choice(WORDS)}"}
                return f'    "{random.choice(WORDS)}": {json.dumps(inner)},'
            case "log":
                time = (
                    f"2026-11-{random.randint(1, 30):02d}T{random.randint(0, 23):02d}:11:{random.randint(0, 59):02d}Z"
                )
                return f"{time} INFO token_count={random.randint(1, 9999)} {word}={random.choice(WORDS)}"
            case "diff":
                call = f"{random.choice(WORDS)}({random.choice(WORDS)}, timeout={random.randint(1, 60)})"
                return f"\x1b[32m+    {word} = {call}\x1b[0m"
        return random.choice(SENTENCES_CJK)

    def _tool(self, number: int) -> JsonObject:
        properties = {
            word: {"type": "string", "description": self._prose.of_length(60)} for word in self._random.sample(WORDS, 4)
        }
        return {
            "type": "function",
            "name": f"tool_{number}",
            "description": self._prose.of_length(700),
            "strict": False,
            "parameters": {"type": "object", "properties": properties},
        }
