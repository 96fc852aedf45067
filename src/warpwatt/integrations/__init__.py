"""Where other programs let WarpWatt in: IPython and notebooks, Kernel Tuner, Triton's autotuner.

None of these programs is imported unless it is there already; each module needs the extra of its name.
"""
