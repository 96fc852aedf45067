"""Random kernels of typical shapes: streams, strides, gathers, stencils, tiles, atomics, loops, branches.

A kernel's body is a loop of ``trips`` rounds over a few statements drawn from :data:`STATEMENTS`; what it
reads is sized so that no variant of it reaches out of bounds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

BLOCKS, GRIDS = (64, 128, 256, 512), (1, 7, 33, 132, 264, 500, 1056, 4000)
TRIPS = (1, 2, 5, 16, 40)
STATEMENTS = {
    "stream": "s += x[at + k * n];",
    "strided": "s += x[at * 8 + k];",
    "broadcast": "s += x[k + off];",
    "stencil": "s += x[at] + x[at + 1] + x[at + 33];",
    "gather": "s += x[idx[i] + off];",
    "repeated": "s += x[(i + k * 97) % period + off];",
    "tile": "tile[threadIdx.x] = x[at + k]; __syncthreads(); "
    "s += tile[(threadIdx.x * 5 + k) % blockDim.x]; __syncthreads();",
    "chain": "s = s * 0.5f + 1.0f; s = s * 0.25f + 3.0f; s = s * 0.125f - 2.0f; s = s * 0.75f + 1.5f;",
    "special": "s += __expf(s * 0.01f) + rsqrtf(s * s + 1.0f);",
    "double": "d = d * 0.5 + s;",
    "branch": "if (threadIdx.x % 4 == 0) s = sinf(s); else s += 1.0f;",
    "integer": "u = u * 1664525u + 1013904223u; u ^= u >> 13;",
    "local": "part[k & 15] += s; s += part[u & 15];",
    "atomic": "atomicAdd(&y[n + (i & 1023)], 1.0f);",
    "shared atomic": "atomicAdd(&tile[(i + k) & 63], 1.0f);",
    "shuffle": "s += __shfl_xor_sync(~0u, s, 1 << (k % 5));",
}
STORES = ("y[i] = s + d + u;", "if (s > 1e30f) y[i] = s + d + u;", "y[(i * 8) % n] = s + d + u;")
PARAMETERS = ("int n", "int trips", "int period", "int off", "const float *x", "const int *idx", "float *y")
PAD = 4096


@dataclass(frozen=True)
class Launch:
    """One launch of a random kernel: what properties vary."""

    name: str
    statements: tuple[str, ...]
    store: str
    block: int
    grid: int
    trips: int
    period: int
    off: int = 0
    order: tuple[int, ...] = tuple(range(len(PARAMETERS)))
    prefix: str = ""

    @property
    def threads(self) -> int:
        """Threads of the grid."""
        return self.grid * self.block

    @property
    def source(self) -> str:
        """CUDA C++ of the kernel; parameters in ``order``, each name behind ``prefix``."""
        text = _SOURCE.format(
            name=self.name,
            parameters=", ".join(PARAMETERS[place] for place in self.order),
            body="\n        ".join(STATEMENTS[one] for one in self.statements),
            store=self.store,
        )
        return text if not self.prefix else _renamed(text, self.prefix)

    @property
    def arguments(self) -> dict[str, object]:
        """Values by parameter name; buffers hold all that the kernel may reach with twice its rounds."""
        n, most = self.threads, 2 * self.trips
        reach = max(8 * n + most, n * (most + 1) if "stream" in self.statements else n, self.period) + PAD
        values: dict[str, object] = {
            "n": n, "trips": self.trips, "period": self.period, "off": self.off,
            "x": f"f32[{reach}]", "idx": f"i32[{n}]:indices({n})", "y": f"f32[{n + 1024}]",
        }  # fmt: skip
        return {self.prefix + name: value for name, value in values.items()}


_SOURCE = """
extern "C" __global__ void {name}({parameters}) {{
    __shared__ float tile[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i + off;
    float s = i, part[16] = {{}};
    double d = 0;
    unsigned u = i;
    tile[threadIdx.x] = s;
    __syncthreads();
    #pragma unroll 1
    for (int k = 0; k < trips; ++k) {{
        {body}
    }}
    if (u == 77 || tile[0] == -5.0f) part[u & 15] = s;
    s += part[u & 15] + tile[threadIdx.x];
    {store}
}}
"""


def _renamed(text: str, prefix: str) -> str:
    """Return a source with other names of parameters."""
    import re

    names = "|".join(parameter.split()[-1].lstrip("*") for parameter in PARAMETERS)
    return re.sub(rf"(?<!\.)\b({names})\b(?!\()", rf"{prefix}\1", text)


def draw(seed: int) -> Launch:
    """Return the launch of a seed, always the same."""
    chance = random.Random(seed)
    chosen = tuple(chance.sample(sorted(STATEMENTS), chance.randint(1, 4)))
    block, grid = chance.choice(BLOCKS), chance.choice(GRIDS)
    period = chance.choice((1 << 10, 12345, 1 << 16, 1 << 19, 3 << 18))
    return Launch(f"k{seed}", chosen, chance.choice(STORES), block, grid, chance.choice(TRIPS), period)


def permuted(launch: Launch, seed: int) -> Launch:
    """Return a kernel with its parameters in another order under other names."""
    order = list(range(len(PARAMETERS)))
    random.Random(seed).shuffle(order)
    return replace(launch, name=f"{launch.name}p", order=tuple(order), prefix="arg_")
