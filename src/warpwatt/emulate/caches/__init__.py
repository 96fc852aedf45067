"""Memory behaviour from addresses: L1 by reuse distance, L2 and DRAM by growth of footprints.

Public names: :func:`~warpwatt.emulate.caches.stream.line_stream` and
:func:`~warpwatt.emulate.caches.reuse.reuse_of` make what an ``Execution`` carries;
:func:`~warpwatt.emulate.caches.hierarchy.level_hits` makes of it what a ``Workload`` says for a GPU.
"""
