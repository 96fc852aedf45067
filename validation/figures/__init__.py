"""Kernels whose authors published what they measured."""
