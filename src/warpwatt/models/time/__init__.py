"""Time models: one file per model."""
