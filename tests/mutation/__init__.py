"""Mutation testing: does a test fail when a rule of the simulator or of the composition is broken?

``python -m tests.mutation [PART...] [--sample N] [--seed S]`` changes one operator, bound or constant at a
time in a copy of the checkout (universalmutator with ``mutants.rules``), builds, runs the tests nearest to it
and prints which changes no test saw, and the score. A change that does not compile does not count.
"""
