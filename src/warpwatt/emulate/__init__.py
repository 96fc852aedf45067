"""From a launch to memory traffic: :class:`Execution` by emulation, :class:`Workload` for a GPU.

Public names: ``execute(program, launch, loop_counts) -> Execution`` (:mod:`~warpwatt.emulate.execution`) and
``workload(execution, gpu, resources) -> Workload`` (:mod:`~warpwatt.emulate.workload`).
"""
