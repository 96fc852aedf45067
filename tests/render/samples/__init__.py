"""Hand-made predictions with every field filled: a streaming kernel and a matrix product on two GPUs."""

from tests.render.samples.matmul import MATMUL_SOURCE
from tests.render.samples.pairs import application, matmul_pair, saxpy_pair
from tests.render.samples.saxpy import SAXPY_SOURCE

__all__ = ["MATMUL_SOURCE", "SAXPY_SOURCE", "application", "matmul_pair", "saxpy_pair"]
