"""Unmodified PyTorch programs: ``make pytorch``, with the environment that WARPWATT_TORCH names."""
