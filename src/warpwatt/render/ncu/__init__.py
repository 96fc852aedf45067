"""Predictions under the names and in the tables of Nsight Compute, for programs that read ``ncu``."""
