"""What is added to the answer, each layer with a statement of its own."""
