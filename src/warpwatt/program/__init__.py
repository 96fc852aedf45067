"""Analyses of a program: control flow, loops and trip counts, data flow, liveness, features.

Public names: ``cfg.control_flow(program) -> ControlFlow``, ``loops.natural_loops(flow)``,
``dataflow.block_graph(program, block)``, ``liveness.live_registers(flow)``,
``symbolic.expressions(program)``, ``counting.static_execution(program, launch, loop_counts) -> Execution``.
"""
