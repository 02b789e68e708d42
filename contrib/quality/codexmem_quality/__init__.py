"""Measures what is remembered of labelled sessions, line by line."""
