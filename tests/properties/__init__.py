"""Random kernels and what has to hold of any prediction: ``python -m tests.properties [CASES [SEED]]``."""
