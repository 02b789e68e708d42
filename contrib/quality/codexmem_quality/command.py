"""The command ``python3 contrib/dev.py quality``: both sets, and the dialogues when their data is given."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from codexmem_quality import locomo
from codexmem_quality.sets import LabelledSet, measured
from codexmem_quality.table import table, total

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "quality"
SETS = (
    LabelledSet(
        name="recordings of real programs",
        sessions=RECORDINGS,
        labels=RECORDINGS / "labels.json",
        never=RECORDINGS / "never.json",
    ),
    LabelledSet(
        name="samples",
        sessions=ROOT / "contrib" / "samples",
        labels=ROOT / "contrib" / "quality" / "samples_labels.json",
        never=ROOT / "contrib" / "quality" / "samples_never.json",
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Print a line for every label of both sets; 1 when a set is not good enough."""
    parser = argparse.ArgumentParser(
        prog="contrib/dev.py quality", description="Measure what is remembered; README.md tells how."
    )
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="also measure recall on LoCoMo's locomo10.json")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="make the homes here and keep them")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="codexmem-quality-") as scratch:
        place = options.keep or Path(scratch)
        results = [measured(labelled, place / labelled.name.split()[0]) for labelled in SETS]
        for result in results:
            print("\n".join(table(result)))
        print("\nTotals")
        print("\n".join(total(result) for result in results))
        if options.locomo:
            print(locomo.measured(options.locomo, place / "locomo"))
    return int(not all(result.good for result in results))
