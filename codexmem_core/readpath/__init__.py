"""Stage 5: the summary that a new session gets, the tools that search further, forgetting."""
