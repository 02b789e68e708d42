"""Real agents on a machine of their own, offline, in front of models that follow a script."""
