"""What a GPU's data take over: measurements of another GPU's memory, values of a board inherited from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from warpwatt.core.gpu import MEASURED_ON, Gpu
from warpwatt.gpus.load import uncalibrated

_TIMED = frozenset(
    {
        "l1_latency",
        "l2_latency",
        "dram_latency",
        "l1_bandwidth_per_sm_clock",
        "l2_bandwidth",
        "dram_bandwidth",
    }
)
"""What the time of a kernel rests on; the rest is for launches, copies and the published models."""
_ACRONYMS = frozenset({"l1", "l2", "dram", "sm", "pcie", "h2d"})


@dataclass(frozen=True, slots=True)
class Loan:
    """Numbers of one GPU that stand in for those of another.

    Attributes
    ----------
    lender
        Name of the GPU the numbers are of.
    fields
        Which: fields of :class:`~warpwatt.core.gpu.MemoryTimings` where ``measured``, else of
        :class:`~warpwatt.core.gpu.Gpu`.
    measured
        Whether somebody measured them on the lender, else they are its specification.
    generation
        Compute capability of the lender where it is not the borrower's, else empty.
    """

    lender: str
    fields: tuple[str, ...]
    measured: bool
    generation: str = ""

    def __str__(self) -> str:
        what = ", ".join(map(_words, self.fields))
        if not self.measured:
            return f"{what}: as on {self.lender}"
        other = f", another generation (compute capability {self.generation})" if self.generation else ""
        return f"{what}: measured on {self.lender}{other}"


def loans(gpu: Gpu) -> tuple[Loan, ...]:
    """Return what ``gpu`` takes over and from whom, measurements first.

    >>> from warpwatt.gpus import find
    >>> str(loans(find("rtx 2080"))[0])
    'shared latency, L1 latency, L2 latency, DRAM bandwidth: measured on GeForce RTX 2070'
    """
    return (*_measurements(gpu), *_specification(gpu))


def unmeasured(gpu: Gpu) -> str:
    """Return the bandwidths that nobody measured on a GPU or its relatives, in words; empty if none.

    >>> from warpwatt.gpus import find
    >>> unmeasured(find("rtx 5090")), unmeasured(find("h200"))
    ('L2 bandwidth', '')
    """
    return ", ".join(
        _words(field) for field in ("l2_bandwidth", "dram_bandwidth") if getattr(gpu.memory, field) is None
    )


@lru_cache(maxsize=64)
def foreign_loans(gpu: Gpu) -> tuple[Loan, ...]:
    """Return what a predicted time rests on and is not of the GPU's own generation, or is inherited.

    >>> from warpwatt.gpus import find
    >>> [str(loan) for loan in foreign_loans(find("h200"))]
    []
    """
    found = loans(gpu)
    inherited = (loan for loan in found if not loan.measured)
    measured = (loan for loan in found if loan.measured and loan.generation)
    timed = (replace(loan, fields=tuple(f for f in loan.fields if f in _TIMED)) for loan in measured)
    return (*(loan for loan in timed if loan.fields), *inherited)


def lender(source: str) -> str:
    """Return the GPU that a measurement's source names as the one it was taken on, empty if none.

    >>> lender("a paper; measured on Tesla P4"), lender("a paper")
    ('Tesla P4', '')
    """
    return source.partition(MEASURED_ON)[2]


def _words(field: str) -> str:
    words = field.removesuffix("_per_sm_clock").split("_")
    return " ".join(word.upper() if word in _ACRONYMS else word for word in words)


def _measurements(gpu: Gpu) -> Iterator[Loan]:
    cited = gpu.memory.sources
    for name in _once(lender(source) for source in cited.values()):
        fields = tuple(field for field, source in cited.items() if lender(source) == name)
        version = uncalibrated(name).capability.version
        yield Loan(name, fields, True, "" if version == gpu.capability.version else version)


def _specification(gpu: Gpu) -> Iterator[Loan]:
    if gpu.inherited:
        yield Loan(gpu.inherits, gpu.inherited, False)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
