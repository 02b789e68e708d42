"""The contract only grows: hookspecs/contract.txt lists what it has promised, a line each.

Without arguments lines are added for what is new, and nothing is ever taken out. With ``--check`` nothing is written.
Exit status 1: a promise was broken, or (``--check``) something new is not listed yet. What breaks plugins: a name, type
or parameter that is gone or changed, and a field or parameter that is new and has no default. Reads the source,
imports nothing.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from hooks_doc import CONTRACT, SHARED, VALUES, classes, described, functions, module, shared_module

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = CONTRACT.parent / "contract.txt"
OPTIONAL = " = …"
"""Ends a line about what may be left out."""


def promises() -> Iterator[str]:
    """Every promise of the contract as it is now."""
    for stage in classes(module("specs.py")):
        for hook in functions(stage):
            yield from _function(f"hook {hook.name}", hook)
    for name in ("hosts", "services", "known"):
        for protocol in classes(module(f"{name}.py")):
            for member in functions(protocol):
                yield from _function(f"{name}.{protocol.name}.{member.name}", member)
    yield from (f"errors.{error.name}" for error in classes(module("errors.py")))
    for name in VALUES:
        yield from _aliases(f"values.{name}", module(f"values/{name}.py"))
        yield from _public(f"values.{name}", module(f"values/{name}.py"))
    for name in SHARED:
        yield from _public(name, shared_module(name))


def _public(name: str, tree: ast.Module) -> Iterator[str]:
    """Functions and classes of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield from _function(f"{name}.{node.name}", node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _value(f"{name}.{node.name}", node)


def _function(name: str, function: ast.FunctionDef) -> Iterator[str]:
    """What it gives, and each parameter."""
    yield f"{name} -> {ast.unparse(function.returns) if function.returns else ''}"
    given = function.args
    places = [*given.posonlyargs, *given.args]
    optional = len(places) - len(given.defaults)
    for number, each in enumerate(places):
        if each.arg != "self":
            yield _parameter(f"{name} {number}", each, has_default=number >= optional)
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(name, each, has_default=default is not None)


def _parameter(name: str, each: ast.arg, *, has_default: bool) -> str:
    kind = f": {ast.unparse(each.annotation)}" if each.annotation else ""
    return f"{name} {each.arg}{kind}{OPTIONAL if has_default else ''}"


def _value(name: str, value: ast.ClassDef) -> Iterator[str]:
    """Its fields and what it can say of itself."""
    yield f"{name}({', '.join(map(ast.unparse, value.bases))})"
    for node, _ in described(value.body):
        if isinstance(node, ast.AnnAssign):
            target = ast.unparse(node.target)
            yield f"{name}.{target}: {ast.unparse(node.annotation)}{OPTIONAL if node.value else ''}"
        elif isinstance(node, ast.Assign):
            yield f"{name}.{ast.unparse(node.targets[0])}{OPTIONAL}"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield from _function(f"{name}.{node.name}", node)


def _aliases(name: str, tree: ast.Module) -> Iterator[str]:
    """Names of types; of choices each choice, since they may become more."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            alias = f"{name}.{node.targets[0].id}"
            is_choice = isinstance(node.value, ast.Subscript) and ast.unparse(node.value.value) == "Literal"
            words = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            yield from (f"{alias}: {word!r}{OPTIONAL}" for word in words) if is_choice else (alias,)


def compare(kept: list[str], now: list[str]) -> tuple[list[str], list[str]]:
    """Promises that are broken, each said in a line, and lines to add.

    A thing that is new as a whole may ask for what it likes; what was there may only get what can be left out.
    """
    new = [line for line in now if line not in set(kept)]
    broken = [f"gone or changed: {line}" for line in kept if line not in set(now)]
    known = {_owner(line) for line in kept}
    broken += [f"new and without a default: {line}" for line in new if _is_needed(line) and _owner(line) in known]
    return broken, new


def _owner(line: str) -> str:
    """The function or value that a line is a part of."""
    words = line.split(" ")
    return " ".join(words[:2]) if words[0] == "hook" else words[0].rpartition(".")[0] if ":" in words[0] else words[0]


def _is_needed(line: str) -> bool:
    """A hook may be implemented with fewer arguments than it is called with; anything else must be given."""
    is_part = ":" in line and " -> " not in line
    return is_part and not line.endswith(OPTIONAL) and not line.startswith("hook ")


def main() -> int:
    """Compare, and without ``--check`` add what is new."""
    kept = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    now = list(promises())
    broken, new = compare(kept, now)
    for line in broken:
        print(f"contract.txt: {line}", file=sys.stderr)
    if new and "--check" in sys.argv[1:]:
        print(f"contract.txt lacks {len(new)} new lines; run: python3 contrib/dev.py docs", file=sys.stderr)
        return 1
    if new and not broken:
        LIST.write_text("".join(f"{line}\n" for line in sorted({*kept, *new})), encoding="utf-8")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
