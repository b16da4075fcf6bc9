"""How work is run: blocks, checkpoints, files written whole, progress."""
