"""cuRAND: generators on the host's side of the interface.

Numbers have the distributions that are asked for and are the same in every run; they are not NVIDIA's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.libraries.calls import Operation, Span, function

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import State

VERSION = 10_400
FIRST_QUASI = 200
"""``curandRngType`` from which on numbers are Sobol's."""
OPERATIONS = 20.0
"""Operations of a number: estimate."""
NOT_INITIALIZED = 101
MOST_AT_ONCE = 1 << 20
"""Numbers that are drawn at a time."""


@dataclass(slots=True)
class Generator:
    """A generator as the program has set it up."""

    kind: int
    on_host: bool = False
    seed: int = 0
    offset: int = 0
    dimensions: int = 1
    stream: int = 0
    _source: Any = field(default=None, repr=False)

    def reset(self) -> None:
        """Begin again with the next number."""
        self._source = None

    def uniform(self, count: int, dtype: str) -> NDArray[Any]:
        """Return numbers in (0, 1]."""
        if self.kind >= FIRST_QUASI:
            return self._sobol(count).astype(dtype)
        return np.asarray((1 - self.source.random(count)).astype(dtype))

    @property
    def source(self) -> np.random.Generator:
        """Where pseudorandom numbers come from."""
        if self._source is None:
            bits = np.random.Philox(key=[self.kind, self.seed % (1 << 64)])
            bits.advance(self.offset)
            self._source = np.random.Generator(bits)
        found: np.random.Generator = self._source
        return found

    def _sobol(self, count: int) -> NDArray[Any]:
        """Return points of Sobol's sequence, one dimension after the other."""
        from scipy.stats import qmc

        if self._source is None:
            scrambled = self.kind in (FIRST_QUASI + 2, FIRST_QUASI + 4)
            self._source = qmc.Sobol(self.dimensions, scramble=scrambled, rng=self.seed)
            if self.offset:
                self._source.fast_forward(self.offset)
        if count % self.dimensions:
            raise InputError(f"{count} numbers do not make points of {self.dimensions} dimensions")
        return np.asarray(1 - self._source.random(count // self.dimensions).T.ravel())


@function("curandCreateGenerator", "pi")
def create(state: State, where: int, kind: int) -> int:
    """Begin a generator whose numbers go to the device."""
    state.create(where, Generator(kind))
    return 0


@function("curandCreateGeneratorHost", "pi")
def create_host(state: State, where: int, kind: int) -> int:
    """Begin one whose numbers go to the host."""
    state.create(where, Generator(kind, on_host=True))
    return 0


@function("curandDestroyGenerator", "p")
def destroy(state: State, which: int) -> int:
    """End a generator."""
    return 0 if state.objects.pop(which, None) is not None else NOT_INITIALIZED


def _set(name: str) -> Callable[[State, int, int], int]:
    """Return what sets something of a generator, which begins again."""

    def apply(state: State, which: int, value: int) -> int:
        setattr(state.objects[which], name, value)
        if name != "stream":
            state.objects[which].reset()
        return 0

    return apply


function("curandSetPseudoRandomGeneratorSeed", "pp")(_set("seed"))
function("curandSetGeneratorOffset", "pp")(_set("offset"))
function("curandSetQuasiRandomGeneratorDimensions", "pi")(_set("dimensions"))
function("curandSetStream", "pl")(_set("stream"))


@function("curandSetGeneratorOrdering", "pi")
def accept(*_: Any) -> int:
    """Take note of what changes no result here."""
    return 0


function("curandGenerateSeeds", "p")(accept)


@function("curandGetVersion", "p")
def version(state: State, where: int) -> int:
    """Return the version that we stand in for."""
    state.memory.put_int(where, VERSION)
    return 0


def _generated(
    state: State,
    which: int,
    where: int,
    count: int,
    dtype: str,
    draw: Callable[[Generator, int], NDArray[Any]],
) -> Operation | int:
    generator = state.objects.get(which)
    if not isinstance(generator, Generator):
        return NOT_INITIALIZED
    size = np.dtype(dtype).itemsize
    memory = state.memory

    def compute() -> None:
        quasi = generator.kind >= FIRST_QUASI
        step = count if quasi else MOST_AT_ONCE
        for start in range(0, count, step):
            values = draw(generator, min(step, count - start))
            memory.put(where + size * start, np.ascontiguousarray(values, dtype))

    return Operation(
        work=OPERATIONS * count,
        unit="fp32_add_mul_fma",
        reads=(),
        writes=(Span(where, float(count * size)),),
        compute=compute,
        kind="random",
        stream=generator.stream,
        to_host=not memory.is_device(where),
        on_host=generator.on_host,
    )


@function("curandGenerate", "ppl")
def generate(state: State, which: int, where: int, count: int) -> Operation | int:
    """Draw 32 bits at a time."""
    return _generated(state, which, where, count, "<u4", lambda g, n: _bits(g, n, 32))


@function("curandGenerateLongLong", "ppl")
def generate_long(state: State, which: int, where: int, count: int) -> Operation | int:
    """Draw 64 bits at a time."""
    return _generated(state, which, where, count, "<u8", lambda g, n: _bits(g, n, 64))


def _bits(generator: Generator, count: int, width: int) -> NDArray[Any]:
    if generator.kind >= FIRST_QUASI:
        return np.asarray((np.ldexp(generator.uniform(count, "<f8"), width) - 1).astype(f"<u{width // 8}"))
    return np.asarray(generator.source.integers(0, 1 << width, count, dtype=f"u{width // 8}"))


@function("curandGenerate?", "ppl", Uniform="<f4", UniformDouble="<f8")
def uniform(state: State, dtype: str, which: int, where: int, count: int) -> Operation | int:
    """Draw uniform numbers in (0, 1]."""
    return _generated(state, which, where, count, dtype, lambda g, n: g.uniform(n, dtype))


@function("curandGenerate?", "pplff", Normal="<f4")
@function("curandGenerate?", "ppldd", NormalDouble="<f8")
def normal(
    state: State, dtype: str, which: int, where: int, count: int, mean: float, deviation: float
) -> Operation | int:
    """Draw normal numbers."""
    return _generated(state, which, where, count, dtype, lambda g, n: mean + deviation * _normal(g, n, dtype))


@function("curandGenerate?", "pplff", LogNormal="<f4")
@function("curandGenerate?", "ppldd", LogNormalDouble="<f8")
def log_normal(
    state: State, dtype: str, which: int, where: int, count: int, mean: float, deviation: float
) -> Operation | int:
    """Draw numbers whose logarithm is normal."""
    return _generated(
        state, which, where, count, dtype, lambda g, n: np.exp(mean + deviation * _normal(g, n, dtype))
    )


def _normal(generator: Generator, count: int, dtype: str) -> NDArray[Any]:
    if generator.kind >= FIRST_QUASI:
        from scipy.special import ndtri

        inside = np.minimum(generator.uniform(count, "<f8"), 1 - 2.0**-53)
        return np.asarray(ndtri(inside)).astype(dtype)
    return generator.source.standard_normal(count).astype(dtype)


@function("curandGeneratePoisson", "ppld")
def poisson(state: State, which: int, where: int, count: int, mean: float) -> Operation | int:
    """Draw numbers of events."""
    return _generated(state, which, where, count, "<u4", lambda g, n: g.source.poisson(mean, n))
