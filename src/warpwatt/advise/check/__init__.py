"""Budgets: what kernels may cost, read from TOML (``budgets``), held against predictions (``judge``).

Public names: :func:`~warpwatt.advise.check.budgets.read_budgets`,
:func:`~warpwatt.advise.check.judge.judge`, and the baselines of :mod:`~warpwatt.advise.check.baseline`.
"""
