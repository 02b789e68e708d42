"""The result of a set for people, a line for every label."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_quality.lines import Line
    from codexmem_quality.sets import Result


def table(result: Result) -> Iterator[str]:
    """Label by label, then what no label supports and what must not be there, then the totals."""
    yield f"\n{result.name}"
    session = ""
    for label, line in result.found:
        if label.session != session:
            session = label.session
            yield f"  {session}"
        verdict = "found" if line else ("-" if label.optional else "MISSED")
        yield f"    {verdict:7} {'/'.join(label.kinds):19} {label.says:66} {line.place if line else ''}".rstrip()
    for line in result.unsupported:
        yield f"  UNSUPPORTED {line.place} {_told(line)}"
    for text in result.forbidden:
        yield f"  FORBIDDEN {text}"
    yield total(result)


def total(result: Result) -> str:
    """One line."""
    hits = round(result.recall * result.wanted)
    return (
        f"  {result.name}: {hits} of {result.wanted} labelled findings found ({result.recall:.0%}), "
        f"{len(result.unsupported)} unsupported, {len(result.forbidden)} forbidden"
    )


def _told(line: Line) -> str:
    if line.kind == "failure":
        return f"failure: {line.command} / {line.text} / {line.fix or 'unsolved'}"
    more = " ".join(word for word in (line.polarity, line.scope, line.outcome, line.by and f"by {line.by}") if word)
    return f"{line.kind}: {line.text}" + (f" [{more}]" if more else "")
