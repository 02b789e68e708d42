"""Stage 2: one finished session in, one note out."""
