"""Everything that is SQL: databases, tables, jobs, the catalogue. No SQL stands outside this package."""
