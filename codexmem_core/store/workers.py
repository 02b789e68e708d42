"""Names of workers, from which anyone on the same machine can tell whether the owner of a job is dead.

``pid:<pid>@<host name>:<start>.<pid namespace>:<uuid>``. Start time and namespace guard against a reused process
number and against containers that share a home and a host name; where the system does not tell them they are empty.
"""

from __future__ import annotations

import os
import re
import socket
import uuid

_WORKER = re.compile(r"pid:(?P<pid>\d+)@(?P<host>[^:]*):(?:(?P<start>\d*)\.(?P<namespace>[^:]*):)?[^:]+")


def worker_identity() -> str:
    """A new name for work of this process."""
    pid = os.getpid()
    start, _ = _start_and_state(pid)
    return f"pid:{pid}@{_host()}:{start}.{_namespace()}:{uuid.uuid4()}"


def owner_is_dead(worker: str) -> bool:
    """Whether the process that took the name has certainly ended. In doubt, and for other machines, False."""
    match = _WORKER.fullmatch(worker)
    if match is None or match["host"] != _host():
        return False
    if match["namespace"] and match["namespace"] != _namespace():
        return False
    pid = int(match["pid"])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass  # it lives, and belongs to another user; or it is no process number at all
    start, state = _start_and_state(pid)
    if state in ("Z", "X"):
        return True
    return bool(match["start"] and start and match["start"] != start)


def process_started(pid: int) -> str:
    """``<start>.<namespace>`` of a process that runs, as hooks note it down; empty where the system does not tell."""
    start, state = _start_and_state(pid)
    return f"{start}.{_namespace()}" if start and state not in ("Z", "X") else ""


def process_has_ended(pid: int, started: str) -> bool:
    """Whether that very process has certainly ended. Of other containers and other systems nothing is known."""
    _, _, namespace = started.partition(".")
    if not _namespace() or namespace != _namespace():
        return False
    return process_started(pid) != started


def _host() -> str:
    return socket.gethostname().replace(":", "_")


def _namespace() -> str:
    try:
        return re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    except OSError:
        return ""


def _start_and_state(pid: int) -> tuple[str, str]:
    """Start in clock ticks since boot, and the state letter (Linux, proc(5)); empty elsewhere."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return "", ""
    after_name = 20  # starttime is field 22, and two fields stand before these
    return (fields[19].decode(), fields[0].decode()) if len(fields) >= after_name else ("", "")
