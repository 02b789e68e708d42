"""What has moved and changed in Codex since codexmem was last compared with it.

usage: python3 contrib/drift [CODEX_CHECKOUT]        (or CODEX_REPO in the environment)

Exit status: 0 nothing that concerns us, 1 drift, 2 this could not be told. Needs git and Python's own library, and
writes nothing. The checkout's HEAD is held against ``codex_ref`` of ``codex_map.toml``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MAP = HERE / "codex_map.toml"
ALIGNED, DRIFT, SETUP_ERROR = 0, 1, 2
ELSEWHERE = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""Variables of git's hooks: they name the repository in which the hook runs, whatever folder is asked for."""


class SetupError(Exception):
    """Nothing can be said; the message says why and what to do."""


@dataclass(frozen=True)
class Mapping:
    """Some of our paths, and where in Codex their behaviour comes from."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class CodexMap:
    """The whole map."""

    ref: str
    date: str
    watched: tuple[str, ...]
    mappings: tuple[Mapping, ...]

    def ours(self, theirs: str) -> list[str]:
        """What of ours comes from a path of Codex."""
        found = [mapping.ours for mapping in self.mappings if theirs in mapping.theirs]
        return sorted({path for paths in found for path in paths})


class Checkout:
    """A local clone of Codex, of which only git's objects are read."""

    def __init__(self, place: str) -> None:
        self._place = place
        try:
            self._git("rev-parse", "--git-dir")
        except FileNotFoundError:
            raise SetupError("git is needed and there is none") from None
        except SetupError as error:
            raise SetupError(f"{place} is no checkout of Codex: {error}") from None

    def commit(self, ref: str) -> str:
        """Its full name."""
        try:
            return self._git("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}").strip()
        except SetupError:
            raise SetupError(f"{self._place} has no {ref}; try: git -C {self._place} fetch --tags") from None

    def has(self, commit: str, path: str) -> bool:
        """Whether there is such a file or folder at a commit."""
        return bool(self._git("ls-tree", "--full-tree", "--name-only", commit, "--", path).strip())

    def changes(self, since: str, until: str, paths: tuple[str, ...]) -> list[tuple[str, ...]]:
        """(letter, path) or, for a rename, (letter, old, new), for what differs between two commits below the paths."""
        listed = self._git("diff", "--no-relative", "-l0", "--find-renames", "--name-status", "-z", since, until).split(
            "\0"
        )
        words = iter(listed[:-1])
        found: list[tuple[str, ...]] = []
        for status in words:
            letter = status[0]
            change = (letter, next(words), next(words)) if letter in "RC" else (letter, next(words))
            if any(_is_below(path, place) for path in change[1:] for place in paths):
                found.append(change)
        return found

    def _git(self, *words: str) -> str:
        environ = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
        done = subprocess.run(
            ["git", "-C", self._place, *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=environ,
        )
        if done.returncode:
            raise SetupError(done.stderr.strip() or f"git {words[0]} failed")
        return done.stdout


def load(path: Path) -> CodexMap:
    """The map, every part checked. Raises SetupError."""
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
        mappings = tuple(
            Mapping(ours=tuple(one["ours"]), theirs=tuple(one["theirs"]), note=one["note"]) for one in found["mappings"]
        )
        whole = CodexMap(
            ref=found["codex_ref"],
            date=str(found["codex_ref_date"]),
            watched=tuple(found["watch_paths"]),
            mappings=mappings,
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SetupError(f"{path}: {type(error).__name__}: {error}") from None
    gone = sorted({ours for mapping in mappings for ours in mapping.ours if not (ROOT / ours).exists()})
    if gone:
        raise SetupError(f"{path}: no longer here: {', '.join(gone)}")
    return whole


def drift(codex_map: CodexMap, checkout: Checkout) -> list[str]:
    """A line for everything that moved, went or changed, with what of ours it concerns."""
    since, until = checkout.commit(codex_map.ref), checkout.commit("HEAD")
    mapped = sorted({path for mapping in codex_map.mappings for path in mapping.theirs})
    changes = checkout.changes(since, until, (*codex_map.watched, *mapped))
    moved = {change[1]: change[2] for change in changes if change[0] == "R"}
    lines = []
    for path in mapped:
        if not checkout.has(until, path):
            if not checkout.has(since, path):
                what = f"never there at {codex_map.ref}"
            else:
                what = f"moved to {moved[path]}" if path in moved else "gone"
            lines.append(_line(f"{path}: {what}", codex_map.ours(path)))
    words = {"A": "new", "D": "gone", "M": "changed", "T": "changed"}
    for change in changes:
        if change[1] in mapped and not checkout.has(until, change[1]):
            continue  # told above
        what = f"moved to {change[2]}" if change[0] == "R" else words.get(change[0], "changed")
        lines.append(_line(f"{change[1]}: {what}", codex_map.ours(change[1])))
    return lines


def _line(what: str, ours: list[str]) -> str:
    return f"  {what}" + (f"  (ours: {', '.join(ours)})" if ours else "")


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def main(arguments: list[str]) -> int:
    """Print what there is to see."""
    if len(arguments) > 1 or any(word in ("-h", "--help") for word in arguments):
        print(__doc__)
        return ALIGNED if len(arguments) == 1 else SETUP_ERROR
    place = arguments[0] if arguments else os.environ.get("CODEX_REPO", "")
    try:
        if not place:
            raise SetupError("say where a checkout of Codex is, as the argument or in CODEX_REPO")
        codex_map = load(MAP)
        lines = drift(codex_map, Checkout(place))
    except SetupError as error:
        print(f"drift: {error}", file=sys.stderr)
        return SETUP_ERROR
    since = f"{codex_map.ref} (compared {codex_map.date})"
    if not lines:
        print(f"aligned: nothing that we watch has changed in Codex since {since}")
        return ALIGNED
    print(f"{len(lines)} differences in Codex since {since}:")
    print("\n".join(lines))
    return DRIFT
