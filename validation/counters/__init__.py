"""Emulation beside hardware counters."""
