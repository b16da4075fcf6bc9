"""What comes in: features, targets, files."""
