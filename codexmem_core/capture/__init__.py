"""Stage 1: which sessions exist, what was said in them, what just happened in a host."""
