"""Comparisons as text, JSON, HTML and GitHub annotations. Public name."""
