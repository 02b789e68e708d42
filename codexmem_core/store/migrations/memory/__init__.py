"""Scripts of a memory's database (memory.db, memory_v2.db)."""
