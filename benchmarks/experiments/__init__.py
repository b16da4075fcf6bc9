"""The experiments; each picks methods by name and computes the rows of a store."""
