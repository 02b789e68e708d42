"""How much of LoCoMo's long conversations can be found again: through extraction without a model, and the search.

The data is not part of this project and must not be: its licence forbids commercial use. The conversations are two
people's small talk, of which the built-in backend keeps nearly nothing on purpose; the figure shows how much survives.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from codexmem_quality.sets import remember

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

RANKS = (1, 5, 10)
ADVERSARIAL = 5
"""Category of questions that have no answer; the data's own evaluation leaves them out of recall as well."""
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D(\d+):")
_STATED = "%I:%M %p on %d %B, %Y"

SEARCHING = """
import json, sys
from codexmem_core.readpath.arguments import Search
from codexmem_core.readpath.search import MemorySearch
search = MemorySearch(sys.argv[1])
for line in sys.stdin:
    asked = Search(queries=[json.loads(line)], match_mode="ranked", path="rollout_summaries", max_results=200)
    found = search.search(asked)
    print(json.dumps([match.path for match in found.matches]), flush=True)
"""
"""Many questions in one process, so that its start is paid once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the sessions that hold its answer."""

    text: str
    sessions: frozenset[int]


def measured(data: Path, place: Path) -> str:
    """A line with recall@1, @5 and @10 by session: the share of questions with a session of the answer so far up."""
    hits = dict.fromkeys(RANKS, 0)
    asked = kept = there = 0
    for number, dialogue in enumerate(json.loads(data.read_text(encoding="utf-8"))):
        folder = place / str(number)
        ids = transcripts(dialogue["conversation"], folder / "sessions", number)
        remember(folder / "sessions", folder)
        memory = folder / "home" / "memories"
        of_recap = _recaps(memory, ids)
        there += len(ids)
        kept += len(of_recap)
        questions = list(_questions(dialogue["qa"]))
        for question, found in zip(questions, _found(memory, [q.text for q in questions]), strict=True):
            order = list(dict.fromkeys(of_recap[path] for path in found if path in of_recap))
            asked += 1
            for rank in RANKS:
                hits[rank] += bool(question.sessions & set(order[:rank]))
    figures = ", ".join(f"@{rank} {hits[rank] / max(asked, 1):.3f}" for rank in RANKS)
    return f"\nLoCoMo: recall {figures} of {asked} questions; {kept} of {there} sessions left something to search"


def transcripts(conversation: Mapping[str, Any], folder: Path, number: int) -> dict[str, int]:
    """Write the sessions of a dialogue as Claude Code would have; by session id, the session's number.

    The first speaker takes the user's part, the second one the agent's.
    """
    folder.mkdir(parents=True)
    ids: dict[str, int] = {}
    for key, turns in conversation.items():
        match = _SESSION.fullmatch(key)
        if match is None or not isinstance(turns, list):
            continue
        session = str(uuid5(NAMESPACE_URL, f"locomo/{number}/{key}"))
        ids[session] = int(match[1])
        records = _records(turns, session, conversation["speaker_a"], _begun(conversation.get(f"{key}_date_time", "")))
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ids


def _records(turns: list[dict[str, Any]], session: str, user: str, begun: float) -> Iterator[dict[str, Any]]:
    parent = None
    for number, turn in enumerate(turns):
        role = "user" if turn["speaker"] == user else "assistant"
        text = " ".join(str(turn[field]) for field in ("text", "blip_caption") if turn.get(field))
        uuid = str(uuid5(NAMESPACE_URL, f"{session}/{number}"))
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        yield {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/talk",
            "sessionId": session, "version": "2.1.197", "type": role, "uuid": uuid,
            "message": {"role": role, "content": content},
            "timestamp": datetime.fromtimestamp(begun + number, UTC).isoformat().replace("+00:00", "Z"),
        }  # fmt: skip
        parent = uuid


def _begun(stated: str) -> float:
    try:
        return datetime.strptime(stated, _STATED).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 1_700_000_000.0


def _questions(asked: list[dict[str, Any]]) -> Iterator[Question]:
    for entry in asked:
        sessions = frozenset(
            int(number) for part in entry.get("evidence") or () for number in _EVIDENCE.findall(str(part))
        )
        if sessions and entry.get("category") != ADVERSARIAL:
            yield Question(text=entry["question"], sessions=sessions)


def _recaps(memory: Path, ids: Mapping[str, int]) -> dict[str, int]:
    """By recap, the number of its session."""
    found: dict[str, int] = {}
    for path in memory.glob("rollout_summaries/*.md"):
        head = re.search(r"^session_id: (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        if head is not None and head[1] in ids:
            found[path.relative_to(memory).as_posix()] = ids[head[1]]
    return found


def _found(memory: Path, questions: list[str]) -> Iterator[list[str]]:
    if not (memory / "rollout_summaries").is_dir():
        yield from ([] for _ in questions)
        return
    done = subprocess.run(
        [sys.executable, "-c", SEARCHING, str(memory)],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    yield from map(json.loads, done.stdout.splitlines())
