"""What plugins are given: one module a Protocol of the contract, bound together in bound.py."""
