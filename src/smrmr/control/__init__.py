"""Ways to control how many selected features are false."""
