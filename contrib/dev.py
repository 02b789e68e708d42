#!/usr/bin/env python3
"""Try, test, check and build codexmem from a checkout. Needs Python 3.11 or newer with venv and pip, nothing else."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python must say so instead of failing on a missing module
    sys.exit(f"contrib/dev.py needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
REAL = ROOT / "tests" / "real"
STAMP = ENVIRONMENT / "codexmem-installed"
BUILD_TOOLS = ("hatchling>=1.25", "editables>=0.5")
TYPED_SCRIPTS = (
    "contrib/dev.py",
    "contrib/hooks_doc.py",
    "contrib/contract.py",
    "contrib/chaos.py",
    "contrib/drift/codex_drift.py",
    "contrib/example_host/codexmem_host_notebook",
    "contrib/bench/__main__.py",
    "contrib/bench/codexmem_bench",
    "contrib/quality/record.py",
    "contrib/quality/codexmem_quality",
)


def distributions() -> list[Path]:
    """Folders of the distributions of this checkout, the engine first."""
    return [ROOT, ROOT / "hookspecs", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]


def run(*command: str | Path, cwd: Path = ROOT) -> int:
    """Run in the foreground and give the exit status; settings of the user's own codexmem stay out."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CODEXMEM_")}
    return subprocess.run([str(word) for word in command], cwd=cwd, env=environ, check=False).returncode


def quietly(what: str, *command: str | Path, cwd: Path = ROOT) -> None:
    """Run, and show the output only when it fails; then end."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        sys.exit(f"{what} failed (exit status {done.returncode}): {' '.join(str(word) for word in command)}")


def key() -> str:
    """Changes whenever the environment must be installed anew: the checkout moved, another Python, other packages."""
    digest = hashlib.sha256(f"{ROOT}\0{sys.version}\0{sys.base_prefix}".encode())
    for folder in distributions():
        digest.update(str(folder.relative_to(ROOT)).encode() + b"\0" + (folder / "pyproject.toml").read_bytes())
    return digest.hexdigest()


def prepare(*, tools: bool = False) -> None:
    """Make .venv and install every distribution editable into it, with ``tools`` the development tools as well."""
    lock = os.open(ROOT, os.O_RDONLY)  # two commands at once must not install into each other
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        current, _, installed = STAMP.read_text().partition(" ") if STAMP.exists() else ("", "", "")
        if current != key():
            create()
            installed = ""
        if installed != "tools" and (tools or not installed):
            install(tools=tools)
    finally:
        os.close(lock)


def create() -> None:
    """An empty virtual environment in .venv, in place of what was there."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        sys.exit(f"{sys.executable} cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv")
    if ENVIRONMENT.exists() and not STAMP.exists():
        sys.exit(f"{ENVIRONMENT} was not made by this script, or not wholly; remove it and try again")
    print(f"Making {ENVIRONMENT} (once)", file=sys.stderr)
    quietly("Making the environment", sys.executable, "-m", "venv", "--clear", ENVIRONMENT)
    STAMP.touch()


def install(*, tools: bool) -> None:
    """One pip call for all distributions, so that they find each other and never an index's package of that name."""
    print("Installing codexmem and its plugins into it", file=sys.stderr)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    quietly("Installing the build tools", *pip, *BUILD_TOOLS)
    wanted: list[str] = []
    for folder in distributions():
        wanted += ["--editable", str(folder)]
    if tools:
        wanted += tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"]
    quietly("Installing", *pip, "--no-build-isolation", *wanted)
    STAMP.write_text(f"{key()} {'tools' if tools else 'product'}")


def demo(arguments: Sequence[str]) -> int:
    """Remember the sample sessions in a fresh home and show what a new session would be told."""
    prepare()
    place = Path(tempfile.mkdtemp(prefix="codexmem-demo-"))
    (place / "config.toml").touch()
    codexmem = (ENVIRONMENT / "bin" / "codexmem", "--home", place / "home", "--config", place / "config.toml")
    status = run(*codexmem, "run", "--sessions", ROOT / "contrib" / "samples", "--now", *arguments)
    if status:
        return status
    print(f"\nThe memory is in {place / 'home'}; nothing else was touched. A new session would be told:\n", flush=True)
    return run(*codexmem, "context")


def test(arguments: Sequence[str]) -> int:
    """Run the tests; arguments go to pytest. --real=codex,claude,opencode,ov: those with the real programs."""
    prepare(tools=True)
    for chosen in (argument for argument in arguments if argument.startswith("--real=")):
        if status := run(sys.executable, REAL / "realhosts" / "programs.py", chosen.removeprefix("--real=")):
            return status
        if not any(argument.startswith("tests/real") for argument in arguments):
            arguments = ["tests/real", *arguments]
    return run(PYTHON, "-m", "pytest", *arguments)


def lint(arguments: Sequence[str]) -> int:
    """Run ruff, mypy, import-linter and the check of HOOKS.md, all of them, also after a failure."""
    prepare(tools=True)
    steps: tuple[tuple[str | Path, ...], ...] = (
        (PYTHON, "-m", "ruff", "check", *arguments),
        (PYTHON, "-m", "ruff", "format", "--check", *arguments),
        (PYTHON, "-m", "mypy"),
        (PYTHON, "-m", "mypy", *TYPED_SCRIPTS),
        (ENVIRONMENT / "bin" / "lint-imports",),
        (PYTHON, ROOT / "contrib" / "hooks_doc.py", "--check"),
        (PYTHON, ROOT / "contrib" / "contract.py", "--check"),
    )
    statuses = [run(*step) for step in steps]
    return int(any(statuses))


def docs(arguments: Sequence[str]) -> int:
    """Write HOOKS.md from the contract, and list what it newly promises; with --check only compare."""
    scripts = (ROOT / "contrib" / "hooks_doc.py", ROOT / "contrib" / "contract.py")
    return max(run(sys.executable, script, *arguments) for script in scripts)


def wheels(arguments: Sequence[str]) -> int:
    """Build a wheel of every distribution, and of the folders named, into dist/."""
    prepare()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for folder in (*distributions(), *(Path(argument).resolve() for argument in arguments)):
        build = (PYTHON, "-m", "hatchling", "build", "--target", "wheel", "--directory", ROOT / "dist")
        quietly(f"Building {folder.name}", *build, cwd=folder)
    for wheel in sorted((ROOT / "dist").glob("*.whl")):
        print(wheel)
    return 0


def bench(arguments: Sequence[str]) -> int:
    """Measure; see contrib/bench/README.md."""
    prepare(tools=True)
    return run(PYTHON, ROOT / "contrib" / "bench", *arguments)


def quality(arguments: Sequence[str]) -> int:
    """Hold what is remembered against labels; see contrib/quality/README.md."""
    prepare(tools=True)
    return run(PYTHON, ROOT / "contrib" / "quality", *arguments)


def chaos(arguments: Sequence[str]) -> int:
    """Kill runs at seeded instants and check what is left."""
    prepare(tools=True)
    return run(PYTHON, ROOT / "contrib" / "chaos.py", *arguments)


def drift(arguments: Sequence[str]) -> int:
    """Tell what has changed in a checkout of Codex since codexmem was compared with it; see CONTRIBUTING.md."""
    return run(sys.executable, ROOT / "contrib" / "drift", *arguments)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    command.__name__: command for command in (demo, test, lint, docs, wheels, bench, quality, chaos, drift)
}


def main() -> int:
    """Choose the command; everything after its name belongs to it."""
    name, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if name not in COMMANDS:
        print(f"{__doc__}\n\nusage: python3 contrib/dev.py COMMAND [ARGUMENTS]\n")
        for command in COMMANDS.values():
            print(f"  {command.__name__:8}{command.__doc__}")
        return 0 if name in ("-h", "--help", "help") else 2
    return COMMANDS[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
