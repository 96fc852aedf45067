"""Kernels of tensor cores: machine instructions without semantics, and what predictions say."""
