"""Notebook as a host of codexmem: an invented agent that keeps each session as a file of JSON lines."""

from codexmem_hookspecs import HOOK_API

from codexmem_host_notebook.plugin import NotebookPlugin

__all__ = ["HOOK_API", "plugin"]

plugin = NotebookPlugin()
