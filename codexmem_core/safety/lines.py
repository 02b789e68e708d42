"""Reads text files of any size line by line: plain or zstd, from a position on, with a cap on a line's length."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.values.capture import Line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LINE_CAP = 32 * 1024 * 1024
"""Bytes of a line without its end. A longer one is passed over and never held whole."""
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BUFFER = 128 * 1024  # small enough to stay in the processor's cache while its lines are cut
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
        if after > 0 and not compressed:
            _go_to(file, after, name)
        with _buffered(file, name, compressed=compressed) as reader:
            if after > 0 and compressed:
                _skip(reader, after, name)
            yield from _lines(reader, max(0, after), cap)
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from error


def read_tail(file: BinaryIO, size: int, *, name: str = "") -> tuple[bytes, int]:
    """The last ``size`` bytes of the uncompressed content, and its whole length."""
    compressed, length, kept = _is_compressed(file), 0, b""
    if not compressed:
        length = max(0, os.fstat(file.fileno()).st_size - size)
        file.seek(length)
    with _buffered(file, name, compressed=compressed) as reader:
        while chunk := reader.read(_CHUNK):
            length += len(chunk)
            kept = (kept + chunk)[-size:] if size > 0 else b""
    return kept, length


def _lines(reader: io.BufferedReader, end: int, cap: int) -> Iterator[Line]:
    """Cut into lines. Of a line over the cap one piece is held at a time, and it is only counted."""
    readline, new = reader.readline, tuple.__new__
    number, beginning = 0, end == 0
    while data := readline(cap + 1):
        number += 1
        end += len(data)
        if data.endswith(b"\n"):
            data = data[:-1]
        elif len(data) > cap:
            while data and not data.endswith(b"\n"):
                data = readline(_CHUNK)
                end += len(data)
            yield Line(number, end, b"", _TOO_LONG)
            beginning = False
            continue
        if beginning:
            data, beginning = data.removeprefix(BYTE_ORDER_MARK), False
        yield new(Line, (number, end, data, ""))  # what Line(...) does, without its call


def _go_to(file: BinaryIO, after: int, name: str) -> None:
    """Continue behind a line's end, or at the end of content that has not grown. Raises Rewritten."""
    size = os.fstat(file.fileno()).st_size
    file.seek(after - 1)
    if size < after or (file.read(1) != b"\n" and size > after):
        raise _rewritten(name, after)


def _skip(reader: io.BufferedReader, after: int, name: str) -> None:
    """The same for content that cannot be jumped in."""
    left, last = after, b""
    while left and (piece := reader.read(min(left, _CHUNK))):
        left -= len(piece)
        last = piece[-1:]
    if left or (last != b"\n" and reader.peek(1)):
        raise _rewritten(name, after)


@contextmanager
def _buffered(file: BinaryIO, name: str, *, compressed: bool) -> Iterator[io.BufferedReader]:
    source: Any = _Uncompressed(file, name) if compressed else file
    reader = io.BufferedReader(source, _BUFFER)
    try:
        yield reader
    finally:
        reader.detach()  # or it would close the file, which is its caller's


class _Uncompressed(io.RawIOBase):
    """The content of a zstd file, as a stream."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._chunks = _decompressed(file, name)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Raises Unreadable when the file is damaged."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        room = memoryview(buffer)
        count = min(len(room), len(self._rest))
        room[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


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


def _rewritten(name: str, after: int) -> Rewritten:
    return Rewritten(f"{name}: no line ends at byte {after} any more")
