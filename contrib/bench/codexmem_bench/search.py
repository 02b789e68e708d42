"""Ranked search in a warm process, freshness checked each time, against a scan as a process of its own."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from random import Random
from typing import TYPE_CHECKING

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.memory_files import MemoryFiles
from codexmem_bench.timing import in_pairs, run_quietly
from codexmem_bench.words import SENTENCES_CJK, WORDS
from codexmem_core.readpath.documents import Documents
from codexmem_core.readpath.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codexmem_bench.bench import Bench

SEARCH = Figure(key="search", what="search over 2,000 files, p50, to ripgrep as a process", limit=1.0, unit=TIMES)
ANSWERED = Figure(key="search-answered", what="questions that a scan answers and search does not", limit=0)
CJK_WORD = 2
RARE_WORD = re.compile(r"\b[b-df-hj-np-tv-z]{6}\b")


class Searched:
    """A memory folder, the warm search over it, and questions of every kind."""

    def __init__(self, folder: Path, *, files: int, seed: int) -> None:
        self.root = folder / "memories"
        MemoryFiles(self.root, files=files, seed=seed)
        self._documents = Documents(str(self.root))
        self._ranking = Ranking(self._documents)
        self.search(("warm",))
        self.questions = self._made(Random(seed))

    def search(self, question: Sequence[str]) -> int:
        """Look for changed files, then answer; how many places were found."""
        with self._documents.lock:
            self._documents.refresh()
            return len(self._ranking.search([" ".join(question)], None))

    def scanned(self, question: Sequence[str]) -> bool:
        """Whether a plain scan finds any word of the question."""
        return any(any(word in document.lower for word in question) for document in self._documents)

    def _made(self, random: Random) -> list[tuple[str, ...]]:
        rare = [word for document in list(self._documents)[:30] for word in RARE_WORD.findall(document.text)]
        questions: list[tuple[str, ...]] = [(word,) for word in random.sample(WORDS, 8)]
        questions += [(word,) for word in random.sample(rare, 10)]
        questions += [tuple(random.sample(WORDS, 2)) for _ in range(8)]
        questions += [(random.choice(rare), *random.sample(WORDS, 2)) for _ in range(6)]
        questions += [(sentence[:CJK_WORD],) for sentence in SENTENCES_CJK]
        return questions


def measure(bench: Bench) -> dict[str, Value]:
    """The median over all questions; the scan is ripgrep's, or grep's where there is no ripgrep."""
    searched: Searched = bench.once("search", lambda folder: Searched(folder, files=2_000, seed=bench.seed))
    rg, grep = shutil.which("rg"), shutil.which("grep")
    if rg is None and grep is None:
        raise FileNotFoundError("neither rg nor grep is there to compare with")
    command = (rg, "-F", "-i", "-c") if rg else (str(grep), "-rFic")
    environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(bench.scratch)}
    ours, theirs = itertools.cycle(searched.questions), itertools.cycle(searched.questions)
    pairs = in_pairs(
        lambda: searched.search(next(ours)),
        lambda: run_quietly((*command, next(theirs)[0], str(searched.root)), environ),
        rounds=len(searched.questions),
    )
    unanswered = [words for words in searched.questions if searched.scanned(words) and not searched.search(words)]
    return {
        SEARCH.key: Value(number=pairs.ratio, detail=f"{pairs.detail}, {os.path.basename(command[0])}"),
        ANSWERED.key: Value(number=len(unanswered), detail=f"of {len(searched.questions)}"),
    }


MEASUREMENT = Measurement(figures=(SEARCH, ANSWERED), measure=measure)
