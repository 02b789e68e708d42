"""What the built-in backend looks for in a transcript: words, commands, and how tasks ended."""
