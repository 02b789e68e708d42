"""What memories have in common that keep Markdown files. For plugins to use.

``lines`` and ``document`` are the Markdown, ``rewriting`` and ``generated_lines`` keep what a person wrote into the
files, ``findings`` and ``rows`` say what sessions hold, ``imported`` what other tools remember, ``summary``,
``summary_format`` and ``contents`` make memory_summary.md without a model, ``conversation``, ``prompts`` and
``answers`` ask one, and ``context`` tells a new session.
"""
