"""The feature vector and its two conventions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum


class Convention(StrEnum):
    """Whose arithmetic: the printed equations, or the one behind the released data."""

    THESIS = "thesis"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Features:
    """The features of thesis Table 5.4, in its order and by its names.

    ``*_kernel`` are instructions in the program text. ``*_sm`` are those one SM executes, loops expanded
    and repeated for each wave of threads; ``*_lat_sm`` the cycles they take, ``avg_*_lat`` cycles per
    instruction (0 without any). ``shmem_block`` is in bytes, ``inst_issue_cycles`` in issue slots,
    ``cache_penalty`` in cycles. ``glb_penalty`` and ``sh_penalty`` are in µs under the thesis convention
    and in no consistent unit under the published one; they are None where nobody measured the memory
    throughput of the GPU (V100).
    """

    avg_comp_lat: float
    avg_glob_lat: float
    avg_misc_lat: float
    avg_shar_lat: float
    branch: float
    comp_inst_kernel: float
    comp_inst_sm: float
    comp_lat_sm: float
    glob_inst_kernel: float
    glob_inst_sm: float
    glob_lat_sm: float
    glob_load_sm: float
    glob_store_sm: float
    misc_inst_kernel: float
    misc_inst_sm: float
    misc_lat_sm: float
    shar_inst_kernel: float
    shar_inst_sm: float
    shar_lat_sm: float
    sm_active: float
    n_warps: float
    waves: float
    total_threads: float
    inst_issue_cycles: float
    cache_penalty: float
    glb_penalty: float | None
    sh_penalty: float | None
    occupancy: float
    reg_thread: float
    shmem_block: float
    block_size: float
    grid_size: float
    assumptions: tuple[str, ...] = ()
    """What stood in for constants nobody measured on this GPU; not a feature."""

    @property
    def total_inst(self) -> float:
        """Instructions one SM executes; the sum of the four types (paper, Algorithm 2, line 22)."""
        return self.comp_inst_sm + self.glob_inst_sm + self.shar_inst_sm + self.misc_inst_sm


NAMES: tuple[str, ...] = tuple(field.name for field in fields(Features) if field.name != "assumptions")
"""The 32 names of Table 5.4."""
