"""Everything that is known about a program without running it.

Control: ``cfg.control_flow(program)`` (blocks, dominators), ``loops.natural_loops(flow)``. Data:
``dataflow.block_graph(program, block)``. Values:
``symbolic.expressions(program)`` (guards and addresses as nodes of ``expression``, made by ``algebra`` from
``semantics``), ``controls.loop_controls(symbols)``, ``inlining.expand_calls(program)``. For a launch:
``binding.bind(program, launch) -> BoundLaunch``, ``sampling.sample_warps``, ``evaluation.Evaluator``,
``trips.TripCounts``, ``walk.Walk``, ``accesses.AccessPatterns``; and on top of them all
``counting.count(bound, loop_counts) -> Execution``.
"""
