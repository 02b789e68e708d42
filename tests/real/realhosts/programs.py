"""The programs that tests/real runs, each installed once at the version that package.json or requirements.txt pins.

As a script, ``programs.py codex,ov``: installs what is missing. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

REAL = Path(__file__).resolve().parents[1]
INSTALL_S = 900


@dataclass(frozen=True)
class Package(ABC):
    """A program as its makers publish it: what users type for it, and the package's name."""

    name: str
    package: str

    @property
    @abstractmethod
    def version(self) -> str:
        """The version that is pinned."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What an installation fits: the kind of machine, and whatever else it depends on."""

    @abstractmethod
    def needs(self) -> str:
        """What is missing to install it, as an error for the user; empty when nothing is."""

    @abstractmethod
    def file(self, place: Path) -> Path:
        """The program's file in an installation."""

    @abstractmethod
    def put_into(self, place: Path) -> str:
        """Install into an empty folder that is going to be renamed; gives the version that the program prints."""


class NpmPackage(Package):
    """An agent; its program is called as users call it here."""

    @property
    def version(self) -> str:
        return str(json.loads((REAL / "package.json").read_text())["dependencies"][self.package])

    @property
    def kind(self) -> str:
        return f"{os.uname().sysname}-{os.uname().machine}".lower()

    def needs(self) -> str:
        if shutil.which("npm"):
            return ""
        return "The agents are npm packages: npm (Node.js 20 or newer) is needed; on Debian and Ubuntu: apt install npm"

    def file(self, place: Path) -> Path:
        return place / "node_modules" / ".bin" / self.name

    def put_into(self, place: Path) -> str:
        wanted = {"private": True, "dependencies": {self.package: self.version}}
        (place / "package.json").write_text(json.dumps(wanted))
        flags = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts=false")
        checked(str(shutil.which("npm")), "install", *flags, cwd=place)
        return checked(str(self.file(place)), "--version", cwd=place)


class PipPackage(Package):
    """A server that is written in Python, in a virtual environment of its own; its file is that environment's Python.

    Scripts of an environment name the folder that it was made in, and so are of no use after it was renamed.
    """

    @property
    def version(self) -> str:
        pins = (REAL / "requirements.txt").read_text()
        return re.findall(rf"^{re.escape(self.package)}==(\S+)$", pins, re.MULTILINE)[0]

    @property
    def kind(self) -> str:
        system = f"{os.uname().sysname}-{os.uname().machine}".lower()
        return f"{system}-python{sys.version_info.major}.{sys.version_info.minor}"

    def needs(self) -> str:
        return ""

    def file(self, place: Path) -> Path:
        return place / "bin" / "python"

    def put_into(self, place: Path) -> str:
        checked(sys.executable, "-m", "venv", str(place), cwd=place)
        pip = (str(self.file(place)), "-m", "pip", "--disable-pip-version-check")
        checked(*pip, "install", "--quiet", "--no-cache-dir", f"{self.package}=={self.version}", cwd=place)
        return checked(*pip, "show", self.package, cwd=place)


PACKAGES = {
    package.name: package
    for package in (
        NpmPackage("codex", "@openai/codex"),
        NpmPackage("claude", "@anthropic-ai/claude-code"),
        NpmPackage("opencode", "opencode-ai"),
        PipPackage("ov", "openviking"),
    )
}
ALONG = {"ov": ("codex",)}
"""What a program is tested with although it was not asked for: a server needs an agent that talks to it."""


def named(names: str) -> tuple[str, ...]:
    """The programs of ``codex,ov``, or ValueError for another name."""
    chosen = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not chosen or set(chosen) - set(PACKAGES):
        raise ValueError(f"--real={names}: give one or more of {','.join(PACKAGES)}")
    return chosen


def needed(names: str) -> tuple[str, ...]:
    """The same with what those are tested with."""
    chosen = named(names)
    return tuple(dict.fromkeys((*chosen, *(other for name in chosen for other in ALONG.get(name, ())))))


def folder(name: str) -> Path:
    """Where a program lies: in the user's cache, one folder a version and kind of machine."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    package = PACKAGES[name]
    return cache / "codexmem-dev" / "programs" / f"{name}-{package.version}-{package.kind}"


def program(name: str) -> Path:
    """The program's file, or FileNotFoundError that says what to do."""
    path = PACKAGES[name].file(folder(name))
    if not path.exists():
        raise FileNotFoundError(
            f"{name} {PACKAGES[name].version} is not in {folder(name)}: run `python3 contrib/dev.py test --real={name}`"
        )
    return path


def install(name: str) -> None:
    """Install a program unless it is there; several installations at once wait for each other."""
    if folder(name).exists():
        return
    if missing := PACKAGES[name].needs():
        sys.exit(missing)
    cache = folder(name).parent
    cache.mkdir(parents=True, exist_ok=True)
    lock = os.open(cache, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder(name).exists():
            for half_made in cache.glob(f".{name}-*"):  # whoever made it holds no lock any more
                shutil.rmtree(half_made)
            _install_into(Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache)), PACKAGES[name])
    finally:
        os.close(lock)


def _install_into(place: Path, package: Package) -> None:
    """Install and try in a folder beside the final one, which so appears whole or not at all."""
    sys.stderr.write(f"Installing {package.package} {package.version} into {folder(package.name)} (once)\n")
    try:
        printed = package.put_into(place)
        if package.version not in printed:
            sys.exit(f"{package.name} was installed, but calls itself {printed.strip()!r} instead of {package.version}")
        place.rename(folder(package.name))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def checked(*command: str, cwd: Path) -> str:
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
    """Install the programs named by the one argument, and what they are tested with."""
    try:
        names = needed(sys.argv[1])
    except ValueError as error:
        sys.exit(str(error))
    for name in names:
        install(name)


if __name__ == "__main__":
    main()
