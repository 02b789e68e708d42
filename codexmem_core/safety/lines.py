"""Reads text files of any size line by line: plain or zstd, from a position on, with a cap on a line's length."""

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.values.capture import Line

LINE_CAP = 32 * 1024 * 1024
"""Bytes of a line without its end. A longer one is passed over and never held whole."""
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_CHUNK = 256 * 1024
_COMPRESSED_CHUNK = 4096  # small, so that damage costs only the few blocks around it
_TOO_LONG = f"the line is longer than {LINE_CAP // (1024 * 1024)} MiB"


class _Decompressor(Protocol):
    """One zstd frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def read_lines(file: BinaryIO, after: int = 0, *, name: str = "", cap: int = LINE_CAP) -> Iterator[Line]:
    """Lines of an opened file (unbuffered, at its beginning) that end after byte ``after`` of the uncompressed content.

    Only a line feed ends a line. A UTF-8 byte order mark at the very beginning is removed. A line over the cap comes
    with a problem and without data. A last line without its end comes with its data: only the content tells whether
    it is whole. Of a damaged zstd file all whole lines before the damage come first.

    Raises Rewritten when the content ends before ``after`` or no line ends there; Unreadable, naming the place, for
    damage.
    """
    try:
        compressed = _is_compressed(file)
        chunks = _decompressed(file, name) if compressed else _plain(file)
        if after > 0 and compressed:
            chunks = _skipped(chunks, after, name)
        elif after > 0:
            _go_to(file, after, name)
        yield from _lines(chunks, max(0, after), cap)
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from error


def read_tail(file: BinaryIO, size: int, *, name: str = "") -> tuple[bytes, int]:
    """The last ``size`` bytes of the uncompressed content, and its whole length."""
    if not _is_compressed(file):
        length = os.fstat(file.fileno()).st_size
        file.seek(max(0, length - size))
        return b"".join(_plain(file))[-size:] if size > 0 else b"", length
    kept, length = b"", 0
    for chunk in _decompressed(file, name):
        length += len(chunk)
        kept = (kept + chunk)[-size:] if size > 0 else b""
    return kept, length


def _lines(chunks: Iterator[bytes], end: int, cap: int) -> Iterator[Line]:
    """Cut chunks into lines. What a line has so far is held in pieces until the cap is exceeded, then only counted."""
    number, pieces, held = 0, list[bytes](), 0
    beginning = end == 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            number += 1
            held += len(piece)
            end += held + 1
            if held > cap:
                yield Line(number, end, b"", _TOO_LONG)
            else:
                data = b"".join([*pieces, piece]) if pieces else piece
                if beginning:
                    data = data.removeprefix(BYTE_ORDER_MARK)
                yield Line(number, end, data)
            beginning = False
            if pieces:
                pieces = []
            held = 0
        held += len(rest)
        if held > cap:
            pieces = []
        elif rest:
            pieces.append(rest)
    if held > cap:
        yield Line(number + 1, end + held, b"", _TOO_LONG)
    elif held:
        data = b"".join(pieces)
        yield Line(number + 1, end + held, data.removeprefix(BYTE_ORDER_MARK) if beginning else data)


def _go_to(file: BinaryIO, after: int, name: str) -> None:
    """Continue behind a line's end, or at the end of content that has not grown. Raises Rewritten."""
    size = os.fstat(file.fileno()).st_size
    file.seek(after - 1)
    if size < after or (file.read(1) != b"\n" and size > after):
        raise _rewritten(name, after)


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _is_compressed(file: BinaryIO) -> bool:
    magic = file.read(len(ZSTD_MAGIC))
    file.seek(0)
    return magic == ZSTD_MAGIC


def _decompressed(file: BinaryIO, name: str) -> Iterator[bytes]:
    """The content of all frames. Raises Unreadable when a frame is damaged or the last one is not whole."""
    frame, done = _decompressor(name), 0
    while data := file.read(_COMPRESSED_CHUNK):
        while data or not frame.needs_input:
            if frame.eof:
                frame = _decompressor(name)
            try:
                chunk = frame.decompress(data, _CHUNK)
            except Exception as error:
                if isinstance(error, MemoryError):
                    raise
                raise Unreadable(f"{name}: damaged after {done} uncompressed bytes ({error})") from error
            done += len(chunk)
            if chunk:
                yield chunk
            data = frame.unused_data if frame.eof else b""
            if frame.eof and not data:
                break
    if not frame.eof:
        raise Unreadable(f"{name}: cut off after {done} uncompressed bytes; the end of the zstd file is missing")


def _decompressor(name: str) -> _Decompressor:
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdDecompressor
        else:
            from backports.zstd import ZstdDecompressor
    except ImportError as error:
        raise Unreadable(f"{name}: is compressed with zstd; install backports.zstd to read it") from error
    return cast("_Decompressor", ZstdDecompressor())


def _skipped(chunks: Iterator[bytes], after: int, name: str) -> Iterator[bytes]:
    """Chunks from byte ``after`` on. Raises Rewritten when no line ends there."""
    passed, last = 0, b""
    for chunk in chunks:
        if passed < after:
            last = chunk[: after - passed][-1:] or last
        start = max(0, after - passed)
        passed += len(chunk)
        if passed > after:
            if last != b"\n":
                raise _rewritten(name, after)
            yield chunk[start:] if start else chunk
    if passed < after:
        raise _rewritten(name, after)


def _rewritten(name: str, after: int) -> Rewritten:
    return Rewritten(f"{name}: no line ends at byte {after} any more")
