"""Transcripts as plugins see them: redacted, without private spans, parsed once a pass whoever reads them."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import msgspec
from codexmem_hookspecs.values.capture import Item, Session, Skipped

from codexmem_core.safety.fence import OPENING
from codexmem_core.safety.private import PrivateSpans
from codexmem_core.safety.redaction import redact_item
from codexmem_core.services.single_flight import SingleFlight

if TYPE_CHECKING:
    from collections.abc import Sequence

Read = Callable[[Session, int], Iterator[Item | Skipped]]

CACHE_IN_MEMORY_BYTES = 1024 * 1024
"""Longer transcripts are kept in a file without a name, so that a pass over many stays small and litters nothing."""

CACHED_SESSIONS = 128
CACHED_BYTES = 32 * 1024 * 1024

_FRAME = 4


class Sieve(Protocol):
    """One reading of one session: takes out of redacted items what nobody may learn from."""

    def item(self, item: Item) -> Item | None:
        """The item, or None when nothing of it is left."""
        ...

    def end(self) -> None:
        """Everything was read."""
        ...


class _Everything:
    def item(self, item: Item) -> Item | None:
        return item

    def end(self) -> None:
        return


class CachedTranscript:
    """A session's items, iterated as often as anybody likes."""

    def __init__(
        self, session: Session, descriptor: int, content: bytes, fingerprint: str, skipped: list[Skipped]
    ) -> None:
        self._session = session
        self._descriptor = descriptor
        self._content = content
        self._fingerprint = fingerprint
        self._skipped = tuple(skipped)
        if descriptor >= 0:
            weakref.finalize(self, os.close, descriptor)

    @property
    def size_bytes(self) -> int:
        """Memory that it holds; nothing when it is in a file."""
        return len(self._content)

    @property
    def session(self) -> Session:
        """The session that it belongs to."""
        return self._session

    @property
    def fingerprint(self) -> str:
        """SHA-256 over every item's bytes, hexadecimal."""
        return self._fingerprint

    @property
    def skipped(self) -> Sequence[Skipped]:
        """Records that could not be understood."""
        return self._skipped

    def __iter__(self) -> Iterator[Item]:
        """All items."""
        decoder = msgspec.msgpack.Decoder(Item)
        if self._descriptor < 0:
            yield from (decoder.decode(frame) for frame in _frames(self._content))
        else:
            yield from (decoder.decode(frame) for frame in _frames_of_file(self._descriptor))

    def after(self, position: int) -> Iterator[Item]:
        """Items whose position is greater."""
        return (item for item in self if item.position > position)


class TranscriptCache:
    """What one pass has read. Two lanes that want one session wait for one reading."""

    def __init__(
        self,
        read: Read,
        own_text: Callable[[Session, Item], bool],
        folder: str,
        sieve: Callable[[Session], Sieve] = lambda _session: _Everything(),
    ) -> None:
        self._read = read
        self._own_text = own_text
        self._folder = folder
        self._sieve = sieve
        self._flights: SingleFlight[CachedTranscript] = SingleFlight(
            entries=CACHED_SESSIONS, weight=CACHED_BYTES, weigh=lambda transcript: transcript.size_bytes
        )

    def open(self, session: Session) -> CachedTranscript:
        """Parse once. Raises Unreadable, also to everybody else who waits for it."""
        return self._flights.get((session.host, session.id, session.revision), lambda: self._load(session))

    def tail(self, session: Session, after: int) -> Iterator[Item]:
        """Redacted items past a position, straight from the host: reads only what is new."""
        reader = _Reader(session, self._sieve(session), self._own_text)
        for item in self._read(session, after):
            if isinstance(item, Item) and (left := reader.readable(item)) is not None:
                yield left
        reader.end()

    def close(self) -> None:
        """The pass is over."""
        self._flights.clear()

    def _load(self, session: Session) -> CachedTranscript:
        encoder = msgspec.msgpack.Encoder()
        reader = _Reader(session, self._sieve(session), self._own_text)
        digest = hashlib.sha256()
        skipped: list[Skipped] = []
        os.makedirs(self._folder, exist_ok=True)
        with tempfile.SpooledTemporaryFile(max_size=CACHE_IN_MEMORY_BYTES, dir=self._folder) as file:
            for item in self._read(session, 0):
                if isinstance(item, Skipped):
                    skipped.append(item)
                elif (left := reader.readable(item)) is not None:
                    frame = encoder.encode(left)
                    digest.update(frame)
                    file.write(len(frame).to_bytes(_FRAME, "big"))
                    file.write(frame)
            reader.end()
            if file.tell() > CACHE_IN_MEMORY_BYTES:
                file.flush()
                return CachedTranscript(session, os.dup(file.fileno()), b"", digest.hexdigest(), skipped)
            file.seek(0)
            return CachedTranscript(session, -1, file.read(), digest.hexdigest(), skipped)


class _Reader:
    """Takes out of one session's items, in their order, what nobody may learn from."""

    def __init__(self, session: Session, sieve: Sieve, own_text: Callable[[Session, Item], bool]) -> None:
        self._session = session
        self._sieve = sieve
        self._own_text = own_text
        self._spans = PrivateSpans()
        self._last: Item | None = None

    def readable(self, item: Item) -> Item | None:
        """What is left of it; None when nothing is."""
        if item.tier == "context" and (self._own_text(self._session, item) or OPENING in item.text):
            return None  # context that we gave; wherever else it stands, it is cut out of the rest
        if not self._last or not _one_message(self._last, item):
            self._spans = PrivateSpans()
        self._last = item if item.tool is None else self._last
        left = redact_item(item, self._spans)
        return self._sieve.item(left) if left.parts or left.tool is not None else None

    def end(self) -> None:
        """Everything was read."""
        self._sieve.end()


def _one_message(one: Item, other: Item) -> bool:
    """Whether two items are pieces of one message: hosts give such as items of their own too."""
    if (one.role == "assistant") != (other.role == "assistant"):
        return False
    return one.position == other.position or 0 < one.at_ms == other.at_ms


def _frames(content: bytes) -> Iterator[memoryview]:
    view = memoryview(content)
    at = 0
    while at < len(view):
        size = int.from_bytes(view[at : at + _FRAME], "big")
        yield view[at + _FRAME : at + _FRAME + size]
        at += _FRAME + size


def _frames_of_file(descriptor: int) -> Iterator[bytes]:
    at, buffer, begin = 0, b"", 0
    while True:
        while len(buffer) - begin >= _FRAME:
            size = int.from_bytes(buffer[begin : begin + _FRAME], "big")
            if len(buffer) - begin - _FRAME < size:
                break
            yield buffer[begin + _FRAME : begin + _FRAME + size]
            begin += _FRAME + size
        needed = _FRAME
        if len(buffer) - begin >= _FRAME:
            needed += int.from_bytes(buffer[begin : begin + _FRAME], "big")
        chunk = os.pread(descriptor, max(CACHE_IN_MEMORY_BYTES, needed), at)
        if not chunk:
            return
        at += len(chunk)
        buffer, begin = buffer[begin:] + chunk, 0
