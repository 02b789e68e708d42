"""Stage 4: other tools' memories in before the diff, ours out after a success."""
