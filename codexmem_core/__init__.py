"""The engine of codexmem: capture → a lane for each memory (extract → consolidate) → payloads for the next session."""

__version__ = "1.0.0"
