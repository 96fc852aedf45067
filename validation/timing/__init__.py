"""Predicted times beside measured ones."""
