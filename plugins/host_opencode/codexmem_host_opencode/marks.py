"""How sessions that codexmem itself makes in OpenCode are told from the user's."""

OWN_TITLE = "codexmem-"
"""Titles of our own sessions begin so; one whose title does is never learned from."""
OWN_METADATA = {"codexmem": True}
"""Of our own sessions. Only one that has both marks and is old is ever deleted (OpenCode memory 12)."""
