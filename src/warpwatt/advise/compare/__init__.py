"""What changed between two predictions, and why: kernels and source lines matched, differences taken.

Public names: :func:`~warpwatt.advise.compare.compare.compare` for two predictions,
:func:`~warpwatt.advise.compare.compare.compare_all` for two lists of them.
"""
