"""What keeps secrets, paths and half-written files from doing harm."""
