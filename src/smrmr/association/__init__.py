"""Associations of features with the target and with each other."""
