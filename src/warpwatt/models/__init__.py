"""Time and power models and the registry that finds them by name."""
