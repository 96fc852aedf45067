"""What changed between two predictions, and why: kernels and source lines matched, differences taken.

Public names: :func:`~warpwatt.compare.compare.compare` for two predictions,
:func:`~warpwatt.compare.compare.compare_all` for two lists of them.
"""
