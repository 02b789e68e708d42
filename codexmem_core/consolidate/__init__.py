"""Stage 3: all notes plus what changed, merged into the memory files."""
