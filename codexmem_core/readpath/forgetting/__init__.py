"""The parts of forgetting: what is meant, rows, memory files and their history, and traces elsewhere in the home."""
