"""Advice: many calls of ``predict`` compared (applications, sweeps, recommendations)."""
