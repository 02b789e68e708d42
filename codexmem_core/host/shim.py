"""What a host runs at its moments: write the event down, print what is ready, wake the worker, and be gone.

``python -I -S -c "import sys; sys.path.append(sys.argv.pop(1)); from codexmem_core.host.shim import main; main()"
FOLDER HOST EVENT HOME CONFIG``, the payload on stdin. ``FOLDER`` is where this package lies: to look for it through the
``site`` module, as Python does without ``-S``, would cost a third of the interpreter's own start.

It is loaded for every prompt and every answer, so it knows ``os``, ``sys`` and ``time`` and nothing else (:mod:`asking`
and its sockets once an answer must be computed), and parses no file beyond a first line. Whatever happens, the host
sees status 0, nothing on stderr, and at most the bytes that were made for it.
"""

import os
import sys
import time

LIMIT_BYTES = 64 * 1024 * 1024
"""Longest payload that is written down."""

FIFO = "worker.fifo"
"""The worker is its reader; that is how one sees that it is there, and a byte wakes it. Below the home, as the rest."""
BEAT = "locks/worker.beat"
"""Its time of change says when the worker last gave a sign of life."""
LOCK = "locks/worker"
"""Held by the worker; holds its process number."""
STARTS = "locks/worker.starts"
"""A line a start of the last hour: UNIX milliseconds and process."""

STARTS_AN_HOUR = 12
HOUR_MS = 3_600_000
COMING_MS = 30_000
"""So long a worker that was started may take until it can be seen."""
WEDGED_S = 60.0
"""A worker that gave no sign for so long is replaced; it gives one every few seconds."""
ASKED_S = 3.0
"""Longest wait for an answer that depends on the place; a worker that is started for it takes about a second."""

CHILD, BYPASS = "CODEXMEM_CHILD", "CODEXMEM_BYPASS"
ASKED = "folders"
"""Below ``read``: a line a folder in which only the worker can tell whether sessions are given anything."""

_CHUNK = 1 << 16
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"ash", b"busybox", b"ksh", b"fish")
"""Hosts may start hooks through these; the host itself is further up."""
_MOST_SHELLS = 8
_KIND, _FIFO = 0o170000, 0o010000
"""Of a file's mode, without the module ``stat``."""


def main() -> None:
    """Never fails, and never says that it did."""
    try:
        run(*sys.argv[1:5])
    finally:
        os._exit(0)  # whatever was raised, the host must not notice


def run(host: str, event: str, home: str, config: str) -> None:
    """One call of a hook. Raises OSError for what is in the way; before that it has done what could be done."""
    began, at_ms, cwd = time.monotonic(), time.time_ns() // 1_000_000, _cwd()
    if is_set(CHILD) or inside_memory(cwd, home) or not os.path.isdir(home) or "/" in host + event:
        return  # names become parts of a file's name
    name = f"{at_ms:013d}.{os.urandom(6).hex()}.{host}.{event}"
    if is_set(BYPASS):
        if event.lower().startswith("session"):  # enough to know later which session it is, and no word of it
            _record(home, name, b" bypass=1", None)
        return
    place = f"{home}/read/{host}-{event}"
    header, _, ready = _read(place).partition(b"\n")
    live_s, wait_s = _seconds(f"{place}.live"), _seconds(f"{place}.wait")
    if (ready or live_s) and _is_asked(home, cwd):
        # Only the worker can tell whether the place wants what lies ready; one may have to be started for that.
        live_s, wait_s, ready = max(live_s, ASKED_S), max(wait_s, ASKED_S if ready else 0.0), b""
    question = None
    if live_s:
        from codexmem_core.host import asking

        question = asking.connected(home, max(live_s, wait_s), began)
    kept: list[bytes] = []
    answer = None
    try:
        # Who is answered by the worker is noted down by the worker.
        told = header if ready and question is None else b""
        _record(home, name, told, kept if question is not None or wait_s else None)
    finally:
        if question is not None:
            answer = question.answer(host, event, kept)
        printed = ready if answer is None else answer
        _print(printed)
        waits = wait_s > 0 and answer is None
        wake(home, config, at_ms, stays=waits)
    if waits:
        from codexmem_core.host import asking

        late = asking.waited(home, host, event, kept, wait_s, began)
        _print(b"" if printed else late)


def is_set(variable: str) -> bool:
    """Whether a variable switches something on."""
    return os.environ.get(variable, "") not in ("", "0")


def inside_memory(cwd: str, home: str) -> bool:
    """Whether the host works inside our home or Codex's memories: its memory agent runs the user's hooks too."""
    codex = os.environ.get("CODEX_HOME") or os.environ.get("HOME", "") + "/.codex"
    return f"{cwd}/".startswith((f"{home}/", f"{os.path.realpath(home)}/", f"{os.path.realpath(codex)}/memories"))


def wake(home: str, config: str, now_ms: int, *, stays: bool) -> None:
    """Ring, and start a worker when nobody is there or the one that is there gives no sign of life.

    ``stays``: this process goes on after it.
    """
    if not ring(home) or is_wedged(home):
        start(home, config, now_ms, stays=stays)


def ring(home: str) -> bool:
    """Wake the worker; False when there is none."""
    try:
        bell = os.open(f"{home}/{FIFO}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(bell).st_mode & _KIND != _FIFO:
            return False  # a regular file, which opens without a reader
        os.write(bell, b".")
    except BlockingIOError:
        return True  # it has been rung often enough
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(bell)


def is_wedged(home: str) -> bool:
    """Whether the last sign of life is too old. Clocks that were set back count as well; a replacement looks again."""
    try:
        return abs(time.time() - os.stat(f"{home}/{BEAT}").st_mtime) > WEDGED_S
    except OSError:
        return False  # it has only just begun


def start(home: str, config: str, now_ms: int, *, stays: bool) -> bool:
    """Start a worker that outlives the host, unless one is on its way or twelve were started within the hour."""
    starts = _made(f"{home}/{STARTS}", os.O_RDWR)
    try:
        try:
            os.lockf(starts, os.F_TLOCK, 0)
        except OSError:
            return False  # somebody is doing it right now
        if ring(home) and not is_wedged(home):
            return False  # it came since it was looked for
        recent = [(ms, pid) for ms, pid in parsed_starts(os.read(starts, _CHUNK)) if 0 <= now_ms - ms < HOUR_MS]
        if len(recent) >= STARTS_AN_HOUR or (
            recent and now_ms - recent[-1][0] < COMING_MS and _comes(home, recent[-1][1])
        ):
            return False
        os.ftruncate(starts, 0)
        os.lseek(starts, 0, os.SEEK_SET)
        os.write(starts, b"".join(b"%d %d\n" % line for line in recent))
        if stays:
            _start_apart(home, config, starts, now_ms)
        else:
            _start(home, config, starts, now_ms)
        return True
    finally:
        os.close(starts)


def parsed_starts(content: bytes) -> list[tuple[int, int]]:
    """(UNIX milliseconds, process) of each start; what is none is passed over."""
    pairs = [line.partition(b" ")[::2] for line in content.splitlines()]
    return [(int(ms), int(pid)) for ms, pid in pairs if ms.isdigit() and pid.isdigit()]


def _start(home: str, config: str, starts: int, now_ms: int) -> None:
    """In a session of its own, and with none of the host's descriptors, for Codex waits until they are closed."""
    os.chdir(home)
    os.closerange(3, starts)
    os.closerange(starts + 1, 1024)
    worker = os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-m", "codexmem_core.host.worker", home, config],
        os.environ,
        setsid=True,
        file_actions=[(os.POSIX_SPAWN_OPEN, standard, os.devnull, os.O_RDWR, 0) for standard in (0, 1, 2)],
    )
    os.write(starts, b"%d %d\n" % (now_ms, worker))


def _start_apart(home: str, config: str, starts: int, now_ms: int) -> None:
    """Through a child that ends at once: Claude Code kills a hook that waits too long with all who descend from it.

    It costs a millisecond, which a hook that ends right afterwards need not spend.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        _start(home, config, starts, now_ms)
    finally:
        os._exit(0)


def _record(home: str, name: str, header: bytes, kept: list[bytes] | None) -> None:
    """Write the event down as it comes in, so that a long one costs no memory; it appears when it is whole."""
    hidden = f"{home}/spool/.{name}"
    file = _made(hidden, os.O_WRONLY | os.O_EXCL)
    try:
        _write(file, header + _host_process() + b"\n")
        begin, size = os.lseek(file, 0, os.SEEK_CUR), 0
        while chunk := _from_host():
            size += len(chunk)
            if size <= LIMIT_BYTES:
                _write(file, chunk)
                if kept is not None:
                    kept.append(chunk)
        if size > LIMIT_BYTES:
            os.ftruncate(file, begin - 1)
            os.lseek(file, begin - 1, os.SEEK_SET)
            _write(file, b" oversized=%d\n" % size)
        os.rename(hidden, f"{home}/spool/{name}")
    except BaseException:
        os.unlink(hidden)
        raise
    finally:
        os.close(file)


def _made(path: str, how: int) -> int:
    """A file that is made when it is not there, and so is its folder."""
    how |= os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, how, 0o600)


def _from_host() -> bytes:
    try:
        return os.read(0, _CHUNK)
    except OSError:
        return b""  # it has closed it, or never opened it


def _write(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _print(content: bytes) -> None:
    try:
        _write(1, content)
    except OSError:
        return  # the host does not want to know any more


def _read(path: str) -> bytes:
    """A small file; empty when there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = b""
        while chunk := os.read(file, _CHUNK):
            content += chunk
    except OSError:
        return b""
    else:
        return content
    finally:
        os.close(file)


def _seconds(path: str) -> float:
    """What a flag says; 0 when there is none."""
    said = _read(path)
    try:
        return float(said) if said else 0.0
    except ValueError:
        return 0.0


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed


def _is_asked(home: str, cwd: str) -> bool:
    """Whether the folder may want no memory: a project's own file says so, or the user's list may."""
    from codexmem_core.project_files import may_switch_off, project_files

    listed = _read(f"{home}/read/{ASKED}").decode("utf-8", "surrogateescape").splitlines()
    in_listed = any(f"{cwd}/".startswith(f"{folder.rstrip('/')}/") for folder in listed)
    return in_listed or any(map(may_switch_off, project_files(cwd)))


def _comes(home: str, pid: int) -> bool:
    """Whether a process that was started is still on its way: it runs, and has not been the worker yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it lives and is somebody else's
    if _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] == [b"Z"]:
        return False  # it ended, in a container in which nobody takes note of that
    return _read(f"{home}/{LOCK}").partition(b" ")[0] != b"%d" % pid


def _host_process() -> bytes:
    """`` pid=… started=…`` of the host, for a host that is killed runs no hook; nothing where there is no /proc."""
    pid = os.getppid()
    for _ in range(_MOST_SHELLS):
        name, _, rest = _read(f"/proc/{pid}/stat").partition(b"(")[2].rpartition(b")")
        fields = rest.split()
        if len(fields) < 20 or pid <= 1:  # noqa: PLR2004 - starttime is field 22, proc(5), and two stand before these
            return b""
        if name not in _SHELLS:
            return b" pid=%d started=%s.%s" % (pid, fields[19], _namespace())
        pid = int(fields[1])
    return b""


def _namespace() -> bytes:
    """Of process numbers: containers may share a home."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]").encode()
    except OSError:
        return b""
