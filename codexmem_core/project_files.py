"""Where a project's own file is looked for. Hooks load this, so it imports ``os`` alone."""

import os

PROJECT_FILE = ".codexmem.toml"
_SIGNS = (b"memory", b"\\", b"\0")
"""One of these stands in every file that sets ``memory``: the key, or what can write it otherwise."""
LONGEST_BYTES = 64 * 1024
"""Of a project file."""
_WORKTREES = "/.git/worktrees/"
_POINTER_BYTES = 4096


def project_files(*folders: str) -> list[str]:
    """Project files in these absolute folders, above them, and above where their links lead; nearest first.

    A folder of a git worktree counts as the same folder of the main checkout too. Never raises.
    """
    waiting = [folder for folder in folders if os.path.isabs(folder)]
    waiting += [os.path.realpath(folder) for folder in waiting]
    found: list[str] = []
    seen: set[str] = set()
    while waiting:
        start = level = os.path.normpath(waiting.pop(0))
        while level not in seen:
            seen.add(level)
            path = os.path.join(level, PROJECT_FILE)
            if os.path.lexists(path):
                found.append(path)
            main = _main_checkout(level)
            if main:
                waiting.append(os.path.join(main, start[len(level) :].lstrip("/")))
            level = os.path.dirname(level)
    return found


def may_switch_off(path: str) -> bool:
    """Whether a project file can be about memory at all, without understanding it; one that cannot be read may be."""
    if not os.path.isfile(path):
        return True  # a pipe, a folder, a link to nothing
    try:
        with open(path, "rb") as file:
            content = file.read(LONGEST_BYTES + 1)
    except OSError:
        return True
    return any(sign in content for sign in _SIGNS) or len(content) > LONGEST_BYTES


def _main_checkout(folder: str) -> str:
    """The main checkout of the worktree whose root the folder is, empty when it is none.

    In a worktree ``.git`` is a file that names its place in the main checkout's ``.git`` (git 2.5; it may be relative
    since 2.48).
    """
    pointer = os.path.join(folder, ".git")
    if not os.path.isfile(pointer):
        return ""
    try:
        with open(pointer, "rb") as file:
            text = os.fsdecode(file.read(_POINTER_BYTES)).strip()
    except OSError:
        return ""
    kind, _, place = text.partition(": ")
    if kind != "gitdir" or _WORKTREES not in place or "\0" in place:
        return ""
    return os.path.normpath(os.path.join(folder, place[: place.rindex(_WORKTREES)]))
