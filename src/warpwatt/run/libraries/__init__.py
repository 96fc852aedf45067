"""Closed libraries that programs call: what they compute, by NumPy and SciPy, and what it costs."""
