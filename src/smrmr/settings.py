"""Checks settings that several stages share: levels, choices, sizes, seeds."""
