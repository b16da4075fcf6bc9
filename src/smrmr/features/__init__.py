"""Features that belong together."""
