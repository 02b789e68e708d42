"""Setting hosts up: what they should say, how their files change, and whether they still say it."""
