"""From a launch to memory traffic: :class:`Execution` by emulation, :class:`Workload` for a GPU.

Public names: ``workload(execution, gpu, resources) -> Workload``.
"""
