"""Whole public programs under ``warpwatt run``: which build, run and pass their own checks."""
