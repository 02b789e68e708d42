"""The agents' programs: installed once from their npm packages, at the versions that package.json pins.

As a script, ``programs.py codex,claude``: installs what is missing. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PINS = Path(__file__).resolve().parents[1] / "package.json"
PACKAGES = {"codex": "@openai/codex", "claude": "@anthropic-ai/claude-code", "opencode": "opencode-ai"}
INSTALL_S = 900


def named(names: str) -> tuple[str, ...]:
    """The programs of ``codex,claude``, or ValueError for another name."""
    chosen = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not chosen or set(chosen) - set(PACKAGES):
        raise ValueError(f"--real={names}: give one or more of {','.join(PACKAGES)}")
    return chosen


def pinned(name: str) -> str:
    """The version of a program."""
    return json.loads(PINS.read_text())["dependencies"][PACKAGES[name]]


def folder(name: str) -> Path:
    """Where a program lies: in the user's cache, one folder a version and kind of machine."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kind = f"{os.uname().sysname}-{os.uname().machine}".lower()
    return cache / "codexmem-dev" / "programs" / f"{name}-{pinned(name)}-{kind}"


def program(name: str) -> Path:
    """The program's file, or FileNotFoundError that says what to do."""
    path = folder(name) / "node_modules" / ".bin" / name
    if not path.exists():
        raise FileNotFoundError(
            f"{name} {pinned(name)} is not in {folder(name)}: run `python3 contrib/dev.py test --real={name}`"
        )
    return path


def install(name: str) -> None:
    """Install a program with npm, unless it is there; several installations at once wait for each other."""
    if folder(name).exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(
            "The agents are npm packages: npm (Node.js 20 or newer) is needed; on Debian and Ubuntu: apt install npm"
        )
    cache = folder(name).parent
    cache.mkdir(parents=True, exist_ok=True)
    lock = os.open(cache, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder(name).exists():
            _install_into(Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache)), npm, name)
    finally:
        os.close(lock)


def _install_into(place: Path, npm: str, name: str) -> None:
    """Install and try in a folder beside the final one, which so appears whole or not at all."""
    version = pinned(name)
    sys.stderr.write(f"Installing {PACKAGES[name]} {version} into {folder(name)} (once)\n")
    try:
        (place / "package.json").write_text(json.dumps({"private": True, "dependencies": {PACKAGES[name]: version}}))
        flags = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts=false")
        _checked(npm, "install", *flags, cwd=place)
        printed = _checked(str(place / "node_modules" / ".bin" / name), "--version", cwd=place)
        if version not in printed:
            sys.exit(f"{name} was installed, but calls itself {printed.strip()!r} instead of {version}")
        place.rename(folder(name))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _checked(*command: str, cwd: Path) -> str:
    """What a command printed; ends with it when the command fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=INSTALL_S,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(command)} failed (exit status {done.returncode})")
    return done.stdout


def main() -> None:
    """Install the programs named by the one argument."""
    try:
        names = named(sys.argv[1])
    except ValueError as error:
        sys.exit(str(error))
    for name in names:
        install(name)


if __name__ == "__main__":
    main()
