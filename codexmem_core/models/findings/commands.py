"""Tool calls as steps: what was run and changed, and for what purpose."""

# Word lists read better as words.
# ruff: noqa: SIM905
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.models.findings.sentences import shortened

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import ToolUse

COMMAND_CHARS = 160
WHOLE_INPUT_CHARS = 200_000
"""Arguments longer than this are not decoded, only their beginning is searched (a file's content is in them)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call, understood."""

    step: str
    """Command or changed path as a line; empty for tools that do no work (plans, to-do lists)."""
    purposes: tuple[str, ...] = ()
    """Two commands that share a purpose do the same job: ``test``, ``install``, ``git push``, a program's name."""
    exploring: bool = False
    """Only looked at something: worth a step only when nothing else was done."""
    command: bool = False
    edited: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


_IDLE_TOOLS = frozenset(
    "update_plan todowrite todoread todo_write think request_user_input askuserquestion question "
    "exitplanmode wait write_stdin "
    "view_image sleep agent task spawn_agent followup_task bashoutput killshell killbash taskoutput "
    "list_agents wait_agent send_message toolsearch".split()
)
_READERS = frozenset("read grep glob ls list webfetch websearch web_search fetch search notebookread view".split())
_EDITORS = frozenset("edit write multiedit notebookedit apply_patch create str_replace patch".split())
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|fi|k)?sh$")
_EXPLORERS = frozenset(
    "ls cat head tail grep rg egrep fgrep find fd pwd wc tree nl stat file which type du df whoami uname "
    "env printenv ps "
    "less more sed awk jq sort uniq cut diff cmp test [ true command date id hostname history".split()
)
_SETUP = frozenset(
    "cd export set source . for done fi case esac pushd popd unset ulimit umask mkdir sleep echo printf".split()
)
_PREFIXES = frozenset("sudo time nohup exec env timeout xvfb-run do then else if while until ! ( {".split())
_RUNNERS = frozenset("python python3 node ruby perl bash sh deno".split())
_SUBCOMMAND = re.compile(r"[a-z][a-z:-]{1,20}")
_TESTERS = frozenset("pytest py.test tox nox jest vitest mocha rspec phpunit ctest playwright cypress".split())
_CHECKERS = frozenset(
    "ruff mypy eslint flake8 pylint tsc pyright prettier black isort biome shellcheck golangci-lint".split()
)
_INSTALLERS = frozenset(
    "npm pnpm yarn bun pip pip3 uv poetry cargo gem go brew apt apt-get conda bundle composer dnf".split()
)
_INSTALL = frozenset("install i add sync ci get update upgrade".split())
_BUILDERS = frozenset("cmake ninja gradle mvn bazel webpack vite rollup esbuild gcc g++ clang rustc javac".split())
_LOOKS = frozenset(
    "status diff log show branch blame remote rev-parse ls-files describe list ls history version help info current "
    "--version --help -h -V".split()
)
"""Subcommands that only tell something, whatever the program."""
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_PATCHED = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)
_HERE_DOCUMENT = re.compile(r"(<<-?[ \t]*(['\"]?)(\w+)\2[^\n]*)\n.*?(?:\n[ \t]*\3[ \t]*(?=\n|\Z)|\Z)", re.DOTALL)
"""Its content is data, whatever it looks like."""
_WRITES = re.compile(
    r"(?:^|[;&\n]|\|)\s*(?:(?:cat|echo|printf)\b[^|;&\n]*?\s>{1,2}|tee(?: -a)?)"
    r"\s*(?!/dev/)([\w./~-]+)"
)
_PATCH_BEGINS = "*** Begin Patch"
_APPLIES = re.compile(r"\s*(?:cd \S+ && )?apply_?patch\b")
_CODE_COMMAND = re.compile(r"""\bcmd["']?\s*:\s*["'`]""")
_FIELD = re.compile(r'"(command|cmd|file_path|filePath|path|notebook_path)"\s*:\s*"((?:[^"\\]|\\.){1,2000})"')
_PATHS = ("file_path", "filePath", "notebook_path", "path", "file")


def understand(tool: ToolUse, cwd: str = "") -> Call:
    """What a call does, from its name and arguments."""
    name = tool.name.rsplit(".", 1)[-1]
    plain = name.lower()
    if plain in _IDLE_TOOLS:
        return Call(step="")
    fields = _fields(tool.input)
    command = _command(fields) or _from_code(tool.input)
    patched = _PATCHED.findall(_patch(command, fields, tool.input))
    if patched:
        paths = [(verb, relative(path.strip(), cwd)) for verb, path in patched[:20]]
        verbs = {"Update": "edit", "Add": "add", "Delete": "delete"}
        return Call(
            step="; ".join(f"{verbs[verb]} {path}" for verb, path in paths[:3]),
            purposes=("edit",),
            edited=tuple(path for _, path in paths),
        )
    if command:
        return _run(command, cwd)
    path = next((relative(value, cwd) for key in _PATHS if isinstance(value := fields.get(key), str) and value), "")
    if plain in _EDITORS and path:
        return Call(step=f"edit {shortened(path, COMMAND_CHARS)}", purposes=("edit",), edited=(path,))
    if plain in _READERS:
        return Call(
            step=shortened(f"{name} {path}", COMMAND_CHARS),
            purposes=(plain,),
            exploring=True,
            read=(path,) if path else (),
        )
    return Call(step=shortened(name, 80), purposes=(plain,)) if name else Call(step="")


def relative(path: str, cwd: str) -> str:
    """The path as seen from the working directory, when it is below it."""
    root = cwd.rstrip("/\\")
    return path[len(root) + 1 :] if root and path.startswith((root + "/", root + "\\")) else path


def _fields(arguments: str) -> dict[str, object]:
    if len(arguments) <= WHOLE_INPUT_CHARS:
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
        if isinstance(value, dict):
            action = value.get("action")
            return {**action, **value} if isinstance(action, dict) else value
        return {}
    found: dict[str, object] = {}
    for match in _FIELD.finditer(arguments[:4_000] + "\n" + arguments[-4_000:]):
        found.setdefault(match.group(1), match.group(2))
    return found


def _command(fields: dict[str, object]) -> str:
    for key in ("command", "cmd"):
        value = fields.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            words = [str(word) for word in value]
            if _SHELLS.match(words[0]) and any(word.startswith("-") for word in words[1:2]):
                return words[-1]
            return " ".join(words)
    return ""


def _patch(command: str, fields: dict[str, object], arguments: str) -> str:
    """The text of a patch: given to the shell, as a field, or as the whole input; empty when there is none."""
    if _PATCH_BEGINS in command:
        # What stands in front of it is another command ("cat > x <<E" may quote a patch without applying it).
        return command[:WHOLE_INPUT_CHARS] if _APPLIES.match(command) else ""
    for text in (*(value for value in fields.values() if isinstance(value, str)), arguments):
        at = text.find(_PATCH_BEGINS, 0, WHOLE_INPUT_CHARS)
        if at >= 0:
            found = text[at : at + WHOLE_INPUT_CHARS]
            return found if "\n" in found else found.replace("\\n", "\n")
    return arguments[:WHOLE_INPUT_CHARS] if _PATCHED.match(arguments) else ""


def _from_code(code: str) -> str:
    """The command inside a script that calls the shell tool (Codex's code mode)."""
    match = _CODE_COMMAND.search(code[:4_000])
    if match is None:
        return ""
    start = match.end() - 1
    try:
        return str(json.JSONDecoder().raw_decode(code, start)[0])
    except ValueError:
        end = code.find(code[start], start + 1)
        return code[start + 1 : end] if end > 0 else ""


def _run(command: str, cwd: str) -> Call:
    bare = _HERE_DOCUMENT.sub(r"\1", command)
    first_line, _, more = bare.strip().partition("\n")
    shown = shortened(first_line + (" …" if more.strip() else ""), COMMAND_CHARS)
    segments = [_words(part.split("|")[0]) for part in re.split(r"&&|\|\||;|\n", bare[:2_000])]
    working = [words for words in segments if words and words[0] not in _SETUP]
    acting = [words for words in working if not _looks(words)]
    written = tuple(relative(path, cwd) for path in _WRITES.findall(bare[:2_000]))
    if written and not acting:
        return Call(
            step=shortened(f"write {', '.join(written[:3])}", COMMAND_CHARS), purposes=("edit",), edited=written
        )
    purposes = tuple(dict.fromkeys(_purpose(words) for words in (acting or working)[:6])) or ("shell",)
    # "cd here && command": the place is known from the source
    shown = re.sub(r"^cd \S+ && ", "", shown)
    exploring = not acting and bool(working)
    return Call(step=shown, purposes=purposes, exploring=exploring, command=True)


def _words(segment: str) -> list[str]:
    words = segment.split()
    while words and (
        _ASSIGNMENT.match(words[0]) or words[0] in {"sudo", "time", "nohup", "exec", "env", "timeout", "xvfb-run"}
    ):
        dropped = words.pop(0)
        if dropped == "timeout" and words:
            words.pop(0)
    for wrapper in (
        ("npx",),
        ("uv", "run"),
        ("poetry", "run"),
        ("pnpm", "exec"),
        ("yarn", "exec"),
        ("bundle", "exec"),
        ("python", "-m"),
        ("python3", "-m"),
    ):
        if tuple(words[: len(wrapper)]) == wrapper and len(words) > len(wrapper):
            words = words[len(wrapper) :]
    if words:
        words[0] = words[0].rsplit("/", 1)[-1]
    return words


def _looks(words: list[str]) -> bool:
    if words[0] in {"sed", "perl"} and any(word.startswith(("-i", "-pi")) for word in words[1:3]):
        return False
    return words[0] in _EXPLORERS or any(word in _LOOKS for word in words[1:2])


def _purpose(words: list[str]) -> str:
    program, rest = words[0], words[1:]
    plain = [word for word in rest if not word.startswith("-")]
    first = plain[0] if plain else ""
    if (
        program in _TESTERS
        or program == "unittest"
        or first == "test"
        or first.startswith("test:")
        or plain[:2] == ["run", "test"]
    ):
        return "test"
    if program in _INSTALLERS and (first in _INSTALL or plain[:2] == ["pip", "install"]):
        return "install"
    if program in _CHECKERS or "lint" in plain[:2] or first in {"clippy", "vet", "typecheck"}:
        return "check"
    if program in _BUILDERS or "build" in plain[:2] or first == "compile":
        return "build"
    return f"{program} {first}" if _SUBCOMMAND.fullmatch(first) or program in _RUNNERS else program
