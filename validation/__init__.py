"""Scripts that compare WarpWatt with published tables and public code; results: docs/validation."""
