"""How work is run: compiled loops, blocks, checkpoints, files written whole, progress."""
