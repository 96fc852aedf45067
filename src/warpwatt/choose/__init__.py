"""Choosing: which clocks, which GPU, which configurations to try; what that saves and costs."""
