"""Explanations of kernels, tried out."""
