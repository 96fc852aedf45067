"""Rankings as text and JSON."""
