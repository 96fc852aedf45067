"""Predicted power beside measured power."""
