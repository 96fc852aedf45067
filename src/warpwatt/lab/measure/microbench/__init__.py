"""Microbenchmarks: small generated kernels, each of which shows one property of a GPU, and their check.

Public names: ``suite.probes()`` (every generated kernel), ``suite.microbenchmarks(device_info)`` (every
kernel with the launches that are measured), ``machine_code.check_probes(probes, target)`` (that machine code
holds exactly the instructions meant), ``points.points(...)`` (what a campaign measures).
"""
