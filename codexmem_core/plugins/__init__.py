"""Finding plugins, refusing broken ones, and the ways to call their hooks."""
