"""Table 4.8 of Alavani's thesis: times on four old boards, under the thesis' own protocol."""

from __future__ import annotations

from validation.alavani.cases import KERNELS, published_kernels, thesis_case
from validation.alavani.published_errors import GPUS, table_4_8
from validation.timing.cases import BASELINES, MODELS, Code, Compared, Measured, answer
from warpwatt.core.errors import UnsupportedGpuError

NAME = "thesis, Table 4.8"


def compare_thesis() -> list[Compared]:
    """Return our kernels that match a row, on the four GPUs of the table."""
    kernels = published_kernels()
    found = []
    for column, gpu in GPUS.items():
        rows = {(r.benchmark, r.kernel): r for r in table_4_8(column)}
        for published in kernels:
            case, answers = thesis_case(published, gpu), {}
            for model in (*MODELS, *BASELINES):
                try:
                    answers[model] = answer(model, [case])
                except UnsupportedGpuError:
                    continue
            measured = Measured(
                data=NAME,
                gpu=gpu,
                program=published.kernel.name,
                configuration=", ".join(published.row),
                code=Code(KERNELS, published.kernel.name),
                launches=(published.launch,),
                seconds=rows[published.row].actual * 1e-6,
            )
            found.append(Compared(measured, answers))
    return found
