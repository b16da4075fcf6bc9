"""Runs the paper's experiments and ours, keeps every result, and draws figures from them."""
