"""What the consolidation agent's tools are called and take: as a model is told, and as calls are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codexmem_hookspecs.values.read import ToolInfo

from codexmem_core.consolidate.draft import WRITE_BYTES
from codexmem_core.safety.text import clean

RESULT_BYTES = 64 * 1024
LINES = 2_000
DEFAULT_LINES = 500


class Mistaken(Exception):  # noqa: N818 - a state that the agent is told
    """A call that is allowed but wrong; the message says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument."""

    name: str
    kind: type
    help: str
    required: bool = True
    low: int = 1
    high: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolForm:
    """A tool and its arguments."""

    name: str
    summary: str
    arguments: tuple[Argument, ...]


_PATH = Argument(name="path", kind=str, help="relative to the memory's folder, names separated by /")
TOOLS = (
    ToolForm(
        name="read",
        summary=f"Read lines of a file: {DEFAULT_LINES} at a time unless said otherwise, at most {RESULT_BYTES} bytes.",
        arguments=(
            _PATH,
            Argument(name="offset", kind=int, required=False, high=10**9, help="first line, counted from 1"),
            Argument(name="limit", kind=int, required=False, high=LINES, help="how many lines"),
        ),
    ),
    ToolForm(
        name="write",
        summary=f"Replace a file, or make it, folders included. At most {WRITE_BYTES} bytes.",
        arguments=(_PATH, Argument(name="content", kind=str, help="the whole text of the file")),
    ),
    ToolForm(
        name="edit",
        summary="Replace one place in a file. The old text must stand there exactly, and once unless replace_all.",
        arguments=(
            _PATH,
            Argument(name="old_string", kind=str, help="text to replace, with enough around it to be the only one"),
            Argument(name="new_string", kind=str, help="text to put in its place"),
            Argument(name="replace_all", kind=bool, required=False, help="replace every such place"),
        ),
    ),
    ToolForm(
        name="glob",
        summary="List files. * and ? stand for characters of a name, ** for any number of folders; no braces.",
        arguments=(Argument(name="pattern", kind=str, help="such as rollout_summaries/*.md or **/*.md"),),
    ),
    ToolForm(
        name="grep",
        summary="Find lines that hold a text: plain text, not a regular expression. Several texts: one a line, any may"
        " match.",
        arguments=(
            Argument(name="pattern", kind=str, help="the text"),
            Argument(name="path", kind=str, required=False, help="a file, a folder or a pattern of paths; else all"),
            Argument(name="ignore_case", kind=bool, required=False, help="whether case does not matter"),
        ),
    ),
)
_KINDS = {str: "string", int: "integer", bool: "boolean"}


def checked(tool: ToolForm, given: Mapping[str, object]) -> dict[str, object]:
    """The arguments, or Mistaken for a wrong one."""
    if not isinstance(given, Mapping):
        raise Mistaken("the arguments must be an object")
    known = {argument.name: argument for argument in tool.arguments}
    unknown = sorted(clean(str(name))[:40] for name in given.keys() - known.keys())
    if unknown:
        raise Mistaken(f"there is no argument {', '.join(unknown)}; there are {', '.join(known)}")
    values: dict[str, object] = {}
    for name, argument in known.items():
        value = given.get(name)
        if value is None:
            if argument.required:
                raise Mistaken(f"{name} is missing")
            continue
        if type(value) is not argument.kind:
            raise Mistaken(f"{name} must be a {_KINDS[argument.kind]}")
        if isinstance(value, int) and argument.kind is int and not argument.low <= value <= argument.high:
            raise Mistaken(f"{name} must be {argument.low} to {argument.high}")
        values[name] = value
    return values


def _schema(tool: ToolForm) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {argument.name: _described(argument) for argument in tool.arguments},
        "required": [argument.name for argument in tool.arguments if argument.required],
        "additionalProperties": False,
    }


def _described(argument: Argument) -> dict[str, object]:
    limits = {"minimum": argument.low, "maximum": argument.high} if argument.kind is int else {}
    return {"type": _KINDS[argument.kind], "description": argument.help, **limits}


TOOL_INFOS = tuple(ToolInfo(name=tool.name, summary=tool.summary, schema=_schema(tool)) for tool in TOOLS)
