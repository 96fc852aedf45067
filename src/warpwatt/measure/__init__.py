"""Measuring: the corpus of programs and its inputs, microbenchmarks, sensors, runs on a real GPU.

Public names of the corpus: ``corpus.Corpus.load(folder)``, ``corpus.launches(program, size)``,
``corpus.reference(program)``, ``inputs.make_inputs(program, size)``.
"""
