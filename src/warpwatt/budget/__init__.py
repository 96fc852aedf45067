"""Budgets: what kernels may cost, read from TOML (``budgets``), held against predictions (``judge``).

Public names: :func:`~warpwatt.budget.budgets.read_budgets`,
:func:`~warpwatt.budget.judge.judge`, and the baselines of :mod:`~warpwatt.budget.baseline`.
"""
