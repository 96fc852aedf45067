"""Measuring: the corpus of programs and its inputs, microbenchmarks, sensors, runs on a real GPU.

Public names of the corpus: ``corpus.Corpus.load(folder)``, ``program.size(name).launches``,
``corpus.reference(program)``, ``inputs.make_inputs(program, size)``.

Of measuring: ``prepare.prepare(corpus, folder, target)`` compiles ahead; ``runner.Options`` and
``supervisor.supervise(options)`` (or ``runner.run``, in this process) run a campaign;
``results.read(path, columns.FILES[protocol])`` reads what it wrote. ``device.Device`` is all asked of a
GPU: ``driver.CudaDevice`` is a real one, ``simulated.SimulatedDevice`` one for tests. ``bench.Point`` is what
can be measured. This floor's modules on that path need numpy alone; GPU machines have little else.
"""
