"""Power models: one file per model."""
