"""Ways to reach a model, and the built-in one that needs none."""
