"""What fits of data with planted effects add up to: rates with intervals, and curves of power."""
