"""The public data sets: which there are, how they are read, and where their files come from."""
