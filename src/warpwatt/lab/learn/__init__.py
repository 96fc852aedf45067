"""Learning power, time and energy from measurements: the published power study, and models of one's own.

Public names
------------
``samples.load(path, target)`` reads a CSV file of a known layout, counts what is wrong with it and returns
``Samples``. ``regressors.regressors()`` are the study's regressors with published hyper-parameters.
``evaluate.evaluate(samples, regressor, split)`` cross-validates by row, as published, or by program. See
``docs/validation/power_study.md`` for what each of them is worth.

Everything but NumPy is imported when it is used; the extras ``learn``, ``ann`` and ``explain`` bring it.
"""
