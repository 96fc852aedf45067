"""From a launch to memory traffic: :class:`Execution` by analysis, :class:`Workload` for a GPU.

Public names: ``analyse_launch(kernel, launch, levels, loop_counts) -> Execution``
(:mod:`~warpwatt.emulate.analysis`) by an ordered list of :mod:`~warpwatt.emulate.strategies`, and
``workload(execution, gpu, resources) -> Workload`` (:mod:`~warpwatt.emulate.workload`).
"""
