"""JSON lines in the home's logs folder, redacted, three files of 10 MiB; and warnings that a command shows.

What writing needs is imported with the first line: most commands log nothing.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging.handlers
    from collections.abc import MutableMapping

    from codexmem_hookspecs.services import Clock

FILE = "codexmem.jsonl"
FILE_BYTES = 10 * 1024 * 1024
KEPT_FILES = 3
MOST_WARNINGS = 500
"""Kept for a command to show; all of them are in the file."""


class LogBook:
    """Everything that is logged during one command. structlog is loaded with the first line."""

    def __init__(self, folder: str, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._logger: object = None
        self._handler: logging.Handler | None = None
        self._warnings: list[str] = []
        self._closed = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings so far, each once, in order: ``plugin: event (field=value)``."""
        with self._lock:
            return tuple(self._warnings)

    def bound(self, plugin: str) -> BoundLog:
        """A log that names its plugin."""
        return BoundLog(self, plugin)

    def write(self, level: str, plugin: str, event: str, fields: dict[str, object]) -> None:
        """One line. A log that cannot be written stops nothing."""
        from codexmem_core.safety.redaction import redact_strings, safe

        redacted = redact_strings(fields)
        assert isinstance(redacted, dict)
        clean = {key: _plain(value) for key, value in redacted.items()}
        if level == "warning":
            self._remember(plugin, safe(event), clean)
        try:
            with self._lock:
                if self._closed:
                    return  # a lane that was given up still talks
                line = {**clean, "plugin": plugin}
                getattr(self._structlog(), level)(safe(event), **line)
        except OSError:
            return

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._handler is not None:
                self._handler.close()
            self._logger = self._handler = None
            self._closed = True

    def _remember(self, plugin: str, event: str, fields: dict[str, object]) -> None:
        details = ", ".join(f"{key}={value}" for key, value in fields.items())
        text = f"{plugin}: {event}" + (f" ({details})" if details else "")
        with self._lock:
            if text not in self._warnings and len(self._warnings) < MOST_WARNINGS:
                self._warnings.append(text)

    def _structlog(self) -> object:
        if self._logger is None:
            import logging.handlers

            import structlog

            os.makedirs(self._folder, exist_ok=True)
            self._handler = logging.handlers.RotatingFileHandler(
                os.path.join(self._folder, FILE), maxBytes=FILE_BYTES, backupCount=KEPT_FILES - 1, encoding="utf-8"
            )
            sink = logging.Logger("codexmem")  # noqa: LOG001 - not the process's: each command has a file of its own
            sink.addHandler(self._handler)
            self._logger = structlog.wrap_logger(
                sink, processors=[structlog.processors.add_log_level, self._stamp, structlog.processors.JSONRenderer()]
            )
        return self._logger

    def _stamp(self, _logger: object, _name: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {"at_ms": self._clock.now_ms(), **line}


class BoundLog:
    """What a plugin is given as ``log``."""

    def __init__(self, book: LogBook, plugin: str) -> None:
        self._book = book
        self._plugin = plugin

    def info(self, event: str, **fields: object) -> None:
        """Something that happened."""
        self._book.write("info", self._plugin, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Something that the user should see."""
        self._book.write("warning", self._plugin, event, fields)


def _plain(value: object) -> object:
    from codexmem_core.safety.private import strip_private

    if isinstance(value, str):
        return strip_private(value)
    return value if isinstance(value, int | float | bool | list | dict | type(None)) else repr(value)
