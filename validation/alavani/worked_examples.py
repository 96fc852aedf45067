"""Print the worked examples of Alavani's thesis beside what our code computes.

Run ``python -m validation.alavani.worked_examples`` from the repository root. Every example is a list of
:class:`Figure`; the exit status is 1 if one differs for which no misprint is stated.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import default_clocks, find, occupancy
from warpwatt.program.counting import static_execution
from warpwatt.published.alavani.features import Convention, Features, extract
from warpwatt.published.alavani.machine import abstract_gpu
from warpwatt.published.alavani.opclass import Resource
from warpwatt.published.alavani.reservation import BlockSchedule, Vertex, schedule_block
from warpwatt.published.alavani.waves import waves

if TYPE_CHECKING:
    from collections.abc import Callable

NN = Path(__file__).parents[2] / "examples" / "published" / "nn.cu"
BLOCKS, BLOCK_SIZE = 13, 256
NAMES = ("C8", "C9", "C10", "M1", "M2", "C11")
DEPENDS_ON = ((), (), (1,), (0,), (2,), (3, 4))
"""Figure 4.6 of the thesis: C8 → M1 → C11 and C9 → C10 → M2 → C11."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: what the thesis prints and what we compute; ``note`` explains a difference."""

    what: str
    printed: str
    ours: str
    note: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the two are the same, or the note says why not."""
        return self.printed == self.ours or bool(self.note)


def vector_add_schedule() -> BlockSchedule:
    """Return Algorithm 6's schedule of section 4.4.4.2: vectorAdd, Tesla K20, 13 blocks of 256 threads."""
    gpu = find("Tesla K20")
    machine = abstract_gpu(gpu, default_clocks(gpu))

    def vertex(operation: str, resource: Resource) -> Vertex:
        return Vertex(machine.latency(operation, BLOCKS * BLOCK_SIZE), resource)

    add, cvta = vertex("adds", Resource.SP), vertex("cvta", Resource.SP)
    load = vertex("global", Resource.LSU)
    return schedule_block([add, cvta, add, load, load, add], DEPENDS_ON, BLOCK_SIZE, machine.instances)


def schedule_example() -> list[Figure]:
    """Return the cycles of Algorithm 6's illustration (A6)."""
    gpu = find("Tesla K20")
    machine = abstract_gpu(gpu, default_clocks(gpu))
    schedule = vector_add_schedule()
    start = dict(zip(NAMES, schedule.start, strict=True))
    end = {n: s + d for n, s, d in zip(NAMES, schedule.start, schedule.duration, strict=True)}
    misprint = "Sch[M2] + d = 332 + 322 = 654; the printed 655 counts one cycle twice"
    return [
        Figure("latency of ld, cycles", "315", str(machine.latency("global", BLOCKS * BLOCK_SIZE))),
        Figure("latency of add, cycles", "9", str(machine.latency("adds", 1))),
        Figure("latency of cvta, cycles", "33", str(machine.latency("cvta", 1))),
        Figure("Sch[C8]", "0", str(start["C8"])),
        Figure("Sch[C9]", "10", str(start["C9"])),
        Figure("Sch[M1]", "10", str(start["M1"])),
        Figure("end of C9", "44", str(end["C9"])),
        Figure("C10", "44-54", f"{start['C10']}-{end['C10']}"),
        Figure("end of M1", "332", str(end["M1"])),
        Figure("M2", "332-655", f"{start['M2']}-{end['M2']}", misprint),
        Figure("Sch[C11]", "655", str(start["C11"]), misprint),
    ]


def waves_example() -> list[Figure]:
    """Return the waves of section 5.4.5.1: 78 blocks of 1024 threads on a Tesla K20."""
    gpu = find("Tesla K20")
    machine = abstract_gpu(gpu, default_clocks(gpu))
    result = waves(78, 1024, 18, 0, machine.sms, machine.limits)
    return [
        Figure("nTh_sched", "6144", str(result.scheduled)),
        Figure("nTh_wave", "2048", str(result.threads)),
        Figure("waves", "3", str(result.count)),
    ]


def occupancy_example() -> list[Figure]:
    """Return the theoretical occupancy of the illustration, which assumes 100 % (4.4.4.2).

    13 blocks of 256 threads and 16 registers: the calculator allows eight blocks, 64 warps per SM.
    """
    launch = Launch(Dim3(BLOCKS), Dim3(BLOCK_SIZE))
    result = occupancy(find("Tesla K20"), Resources(16), launch)
    return [Figure("theoretical occupancy", "100 %", f"{result.theoretical:.0%}".replace("%", " %"))]


def features_example() -> list[Figure]:
    """Return the features of the nn kernel (A8): the thesis's example and the row of the released table.

    The kernel is ours, compiled by the current compiler and counted without being run.
    """
    example = nn_features(78, 1024, Convention.THESIS)
    released = nn_features(168, 256, Convention.PUBLISHED)
    table = {
        "comp_inst_kernel": 19,
        "comp_inst_sm": 38,
        "glob_inst_kernel": 8,
        "glob_inst_sm": 6,
        "misc_inst_kernel": 2,
        "inst_issue_cycles": 112,
    }
    return [
        Figure("waves, 78 x 1024", "3", f"{example.waves:g}"),
        Figure("comp_inst_sm, 78 x 1024", "57", f"{example.comp_inst_sm:g}"),
        *(
            Figure(f"{name}, 168 x 256", str(value), f"{getattr(released, name):g}")
            for name, value in table.items()
        ),
    ]


def nn_features(blocks: int, threads: int, convention: Convention) -> Features:
    """Return the features of ``examples/published/nn.cu`` on Tesla K20."""
    gpu = find("Tesla K20")
    kernel = load_kernel(NN, gpu.target)
    arguments = parse_arguments([f"count={blocks * threads}"])
    launch = Launch(Dim3(blocks), Dim3(threads), arguments=arguments)
    program = kernel.program()
    execution = static_execution(program, launch)
    resident = occupancy(gpu, kernel.resources, launch)
    return extract(program, execution, kernel.resources, launch, gpu, resident, convention)


EXAMPLES: dict[str, Callable[[], list[Figure]]] = {
    "Algorithm 6, vectorAdd, Tesla K20, 13 x 256 (section 4.4.4.2)": schedule_example,
    "Waves, nn, Tesla K20, 78 x 1024 (section 5.4.5.1)": waves_example,
    "Occupancy, vectorAdd, Tesla K20": occupancy_example,
    "Feature extraction, nn, Tesla K20 (section 5.4.5.1)": features_example,
}


def main() -> int:
    """Print every example; return 1 if a figure differs without a stated reason."""
    agree = True
    for title, figures in EXAMPLES.items():
        print(f"\n{title}")
        for figure in figures():
            print(f"  {figure.what:<29} thesis {figure.printed:>8}   ours {figure.ours:>8}   {figure.note}")
            agree &= figure.agrees
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
