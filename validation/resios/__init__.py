"""Resios' system (2011)."""
