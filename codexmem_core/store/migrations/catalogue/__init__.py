"""Scripts of the catalogue (catalog.db)."""
