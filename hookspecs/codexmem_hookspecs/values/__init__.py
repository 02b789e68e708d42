"""Frozen values that cross the contract, a module a stage. New fields always have a default."""
