"""The values: a :class:`Probe` is a generated kernel, a :class:`Microbenchmark` one use of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from warpwatt.core.launch import Launch
from warpwatt.lab.measure.microbench import ptx


@dataclass(frozen=True, slots=True)
class Expected:
    """What the machine code of a probe's loop must be.

    Attributes
    ----------
    opcodes
        Pattern of opcodes (a regular expression over the whole opcode) -> how many of them one pass
        through the loop executes. These are the instructions meant.
    overhead
        How many other instructions the loop may hold: counter, addresses, branch.
    chains
        How many chains the instructions form, each depending on the one before it in its chain, from pass to
        pass too; 0: none depends on another; None: not checked, as order comes from elsewhere (a barrier).
    """

    opcodes: Mapping[str, int]
    overhead: int = 4
    chains: int | None = None

    @property
    def total(self) -> int:
        """Instructions meant in one pass."""
        return sum(self.opcodes.values())


@dataclass(frozen=True, slots=True)
class Probe:
    """A generated kernel.

    Attributes
    ----------
    name
        Its name in the machine code.
    group
        What kind of property it shows: ``instruction``, ``latency``, ``bandwidth``, ...
    meaning
        What it measures, in words.
    source
        PTX of the entry, without the module around it.
    expected
        By oldest target, rising: what holds from there on. None: no machine code of its kind there.
    parameters
        Names of its parameters in order; each is eight bytes.
    steps
        Measured steps in one pass through the loop; 0 where there is no loop.
    row
        The row of a capability's throughput table that the result is compared with, or empty.
    needs
        What else a device must offer to run it: ``texture``.
    """

    name: str
    group: str
    meaning: str
    source: str
    expected: Mapping[int, Expected | None]
    parameters: tuple[str, ...]
    steps: int
    row: str = ""
    needs: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        name: str,
        group: str,
        meaning: str,
        frame: ptx.Frame,
        expected: Mapping[int, Expected | None],
        steps: int,
        *,
        row: str = "",
        needs: frozenset[str] = frozenset(),
    ) -> Probe:
        """Return the probe whose kernel is the loop of a frame."""
        parameters = (*ptx.COMMON, *frame.parameters)
        return cls(name, group, meaning, ptx.entry(name, frame), expected, parameters, steps, row, needs)

    def expected_on(self, target: int) -> Expected | None:
        """Return what the loop must be on a target such as 90; None where the probe does not exist."""
        known = [oldest for oldest in self.expected if oldest <= target]
        return self.expected[max(known)] if known else None

    def exists_on(self, target: int) -> bool:
        """Whether a target such as 90 has the instructions; every target can do nothing."""
        return self.steps == 0 or self.expected_on(target) is not None


class Reading(StrEnum):
    """How a microbenchmark is read."""

    CYCLES = "cycles"
    """SM clock cycles between the first warp's start and the last warp's end on each SM, per step."""
    SECONDS = "seconds"
    """Seconds of a launch between two events."""
    BATCH = "batch"
    """Seconds per launch of a batch in a stream."""
    GRAPH = "graph"
    """The same, of a batch recorded into a graph."""
    POWER = "power"
    """Mean board power while the launch repeats."""


class Data(StrEnum):
    """What the buffers hold."""

    RANDOM = "random"
    ZEROS = "zeros"


@dataclass(frozen=True, slots=True)
class Chain:
    """Pointers in a buffer, ``stride`` bytes apart, each to the next one; the last to the first.

    ``every_word``: every eight bytes hold a pointer ``stride`` bytes on, so that many threads can follow.
    """

    stride: int
    in_random_order: bool = False
    every_word: bool = False


@dataclass(frozen=True, slots=True)
class Microbenchmark:
    """One use of a probe: a launch, how it is read, and what the result means.

    Attributes
    ----------
    quantity
        What is measured: rows of one quantity and probe, at several ``sweep`` values, make a curve.
    unit
        Unit of the result; ``cycle`` is per step, ``1/cycle`` and ``B/cycle`` are per SM.
    sweep
        The values varied: ``ilp``, ``warps``, ``blocks``, ``footprint`` and ``stride`` in bytes, ...
    arguments
        Parameters of the kernel that are no buffers.
    buffer
        Bytes of the buffer behind ``in``.
    chain, constants
        Pointers in that buffer, or offsets in constant memory (over so many bytes), or None: plain data.
    passes
        Passes through the loop, in the shorter of two runs.
    per_pass
        What one pass does, for a rate: operations or bytes, on one SM (cycles) or on all (seconds, power).
    steps
        Steps of one pass that a result in cycles is divided by.
    """

    probe: Probe
    quantity: str
    launch: Launch
    reading: Reading
    unit: str
    sweep: Mapping[str, int]
    arguments: Mapping[str, int] = field(default_factory=dict)
    data: Data = Data.RANDOM
    buffer: int = 65536
    chain: Chain | None = None
    constants: int = 0
    passes: int = 1
    per_pass: float = 0.0
    steps: int = 1

    def for_power(self, sms: int, data: Data) -> Microbenchmark:
        """Return the same stream as a reading of power; one read on a single SM runs on ``sms`` of them."""
        local = self.reading is Reading.CYCLES
        return replace(
            self,
            quantity=f"{self.quantity} power" if not local else "power",
            launch=replace(self.launch, grid=replace(self.launch.grid, x=sms)) if local else self.launch,
            reading=Reading.POWER,
            unit="W",
            data=data,
            sweep={**self.sweep, "active_sms": sms},
            passes=self.passes * (256 if local else 4),
            per_pass=self.per_pass * (sms if local else 1),
        )

    @property
    def curve(self) -> tuple[str, str, str]:
        """Probe, quantity and data: what is measured together as one point."""
        return self.probe.name, self.quantity, str(self.data)

    @property
    def name(self) -> str:
        """Unique name: probe, quantity and the values of the sweep.

        >>> from warpwatt.core.launch import Dim3, Launch
        >>> probe = Probe("fp32_add_ilp1", "instruction", "", "", {}, (), 240)
        >>> one = Launch(Dim3(1), Dim3(32))
        >>> Microbenchmark(probe, "throughput", one, Reading.CYCLES, "1/cycle", {"warps": 1}).name
        'fp32_add_ilp1/throughput/warps=1'
        """
        sweep = ",".join(f"{name}={value}" for name, value in self.sweep.items())
        return f"{self.probe.name}/{self.quantity}/{sweep}"
