"""WarpWatt: time, power and energy of CUDA kernels, predicted without running them.

The user brings a kernel and a launch; the package brings everything else::

    source or binary -> frontend -> Kernel -> program analysis -> Execution
        -> (GPU) -> Workload -> time model <-> power model -> Prediction -> renderers
"""

__version__ = "0.1.0"
