"""Whole programs without a GPU: their host code runs here, our CUDA runtime sees every launch."""
