"""The published systems that WarpWatt reproduces, one room each with everything that is theirs.

- :mod:`.alavani`: Gargi Alavani (PhD thesis 2023): two time models, 32 program features, the power study.
- :mod:`.boughzala`: Boughzala, Lefèvre and Orgerie (2020): time and energy by blocks, platforms of SimGrid.
- :mod:`.resios`: Resios (MSc thesis 2011): sequential C loops to a prognosis, a verdict and CUDA.
- :mod:`.volkov`: Volkov (2016): throughput by concurrency and latency.
- :mod:`.wang_chu`: Wang and Chu (2018): time under core and memory frequency scaling.

The registry knows their models by name only: nothing below this room imports from it.
"""
