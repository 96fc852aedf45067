"""What ``warpwatt.predict`` returns: predictions that show themselves, in a terminal and in a notebook.

A :class:`Result` is a :class:`~warpwatt.core.prediction.Prediction`, a :class:`Results` a tuple of them;
``repr`` is one useful line (or one per prediction), notebooks show a card or a table, ``save`` writes a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.core.prediction import Prediction
from warpwatt.render.card import card, line, table
from warpwatt.render.context import Context
from warpwatt.render.registry import renderer

if TYPE_CHECKING:
    import os

FORMATS = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv", ".txt": "text"}
"""Suffix of a file to the format it is written in."""
SCRATCH = "stdin.cu"
"""Name of the file that a compiler sees in place of a text; see ``frontend/cuda.py``."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Prediction):
    """A prediction that shows itself; ``sources`` holds texts by file name, for reports.

    >>> import warpwatt
    >>> code = '''
    ... __global__ void fill(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }'''
    >>> warpwatt.predict(code, gpu="a100", grid=4096, block=256, args={"x": "f32[4096*256]"})
    <fill(float*) on NVIDIA A100-SXM4-40GB: ... µs (...), ... W, ...J, limited by ...>
    """

    sources: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{line(self)}>"

    def _repr_html_(self) -> str:
        """Return a card (IPython's protocol, which other notebooks follow)."""
        return card(self, _sources([self]))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the full result to a file and return its path.

        The suffix chooses the format: ``.html`` (the report), ``.json``, ``.csv`` or ``.txt``.

        Raises
        ------
        InputError
            If the suffix is none of these, or the file cannot be written.
        """
        return _save([self], Path(path))


class Results(tuple[Result, ...]):
    """Predictions of several launches or GPUs, in the order asked for; a tuple that shows itself.

    >>> Results()
    no predictions
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no predictions"

    def _repr_html_(self) -> str:
        """Return a table (a card where there is one prediction alone)."""
        return self[0]._repr_html_() if len(self) == 1 else table(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all of them to one file and return its path; as :meth:`Result.save`."""
        return _save(self, Path(path))

    def rows(self) -> list[dict[str, object]]:
        """Return one dictionary per prediction, with the columns of the CSV format.

        Made for ``pandas.DataFrame(results.rows())``.
        """
        from warpwatt.render.csv import row

        return [dict(row(prediction, _context(self))) for prediction in self]


def results(predictions: Iterable[Prediction], sources: Mapping[str, str]) -> Results:
    """Return predictions as results; texts that are no files are given by name as ``sources``."""
    names = [f.name for f in fields(Prediction)]
    return Results(Result(**{name: getattr(p, name) for name in names}, sources=sources) for p in predictions)


def _save(found: Sequence[Result], path: Path) -> Path:
    wanted = FORMATS.get(path.suffix.lower())
    if wanted is None:
        raise InputError(f"no format for {path.suffix!r}", file=path, hint=f"end it in {' '.join(FORMATS)}")
    text = renderer(wanted)(found, _context(found))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write it: {error.strerror}", file=path) from None
    return path


def _context(found: Sequence[Result]) -> Context:
    toolkits = dict.fromkeys(p.case.kernel.toolkit for p in found if p.case.kernel.toolkit)
    return Context(toolkits={"CUDA": ", ".join(toolkits)}, sources=_sources(found))


def _sources(found: Iterable[Result]) -> dict[str, str]:
    """Return the text of every source that a line names, where there is one."""
    texts: dict[str, str] = {}
    for prediction in found:
        texts |= prediction.sources
        for name in {cost.file for cost in prediction.lines} - texts.keys():
            if Path(name).name == SCRATCH and len(prediction.sources) == 1:
                (texts[name],) = prediction.sources.values()
                continue
            try:
                texts[name] = Path(name).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
    return texts
