"""Measures the product against yardsticks in the same run: seeded inputs, no network."""
