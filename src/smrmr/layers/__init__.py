"""Adds to the answer: features associated alone, credible sets, the panel, bounds after looking."""
