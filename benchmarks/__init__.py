"""Speed, memory and statistics of smrmr beside its rivals; run from a clone of the repository."""
