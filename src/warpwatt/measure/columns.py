"""Columns of the result files: name, type, unit, meaning. ``data/measured/README.md`` shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``kind`` is ``str``, ``int`` or ``float``. An empty cell means not known."""

    name: str
    kind: type
    meaning: str

    def format(self, value: Value) -> str:
        """Return a cell; line breaks become spaces, so that a row is always one line.

        >>> Column("time_s", float, "").format(1 / 3), Column("note", str, "").format(None)
        ('0.333333333', '')
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        if self.kind is float:
            return f"{value:.9g}"
        return " ".join(str(value).split())

    def read(self, cell: str) -> Value:
        """Return the value of a cell.

        Raises
        ------
        ValueError
            If it is not of the column's type.
        """
        if self.kind is str:
            return cell
        return self.kind(cell) if cell else None


IDENTITY = (
    Column("protocol", str, "name of the protocol: the file's name"),
    Column("version", int, "version of the protocol"),
    Column("date", str, "UTC, when the point was done"),
    Column("gpu", str, "the device's own name"),
    Column("uuid_hash", str, "first 12 hexadecimal digits of the SHA-256 of the device's UUID"),
    Column("driver", str, "version of the driver, and the CUDA version it supports"),
    Column("target", str, "target the machine code is for"),
    Column("toolkit", str, "version of the compiler"),
    Column("cubin", str, "digest of the machine code"),
    Column("program", str, "program of the corpus"),
    Column("family", str, "all variants of one algorithm"),
    Column("split", str, "fit or test"),
    Column("size", str, "size of the program"),
    Column("data", str, "random: as the manifest says; zeros: zeros in place of random floats"),
    Column("seed", int, "seed of the campaign's order"),
    Column("rows", int, "rows of this point: one for each launch"),
    Column("launch", int, "which launch of the size, from 0; empty: the point has one row for all"),
    Column("kernel", str, "the launch's kernel, or all"),
    Column("status", str, "ok, or why there is no good figure"),
    Column("attempts", int, "runs made; all but the last were rejected"),
)
CONDITIONS = (
    Column("sm_clock_before_hz", float, "SM clock right before the run"),
    Column("sm_clock_after_hz", float, "SM clock right after"),
    Column("memory_clock_before_hz", float, "memory clock right before"),
    Column("memory_clock_after_hz", float, "memory clock right after"),
    Column("temperature_before_c", float, "temperature right before"),
    Column("temperature_after_c", float, "temperature right after"),
    Column("throttle", str, "throttle reasons seen, joined by +; benign ones left out"),
)
NOTE = Column("note", str, "what went wrong, in words")

TIME = (
    *IDENTITY,
    Column("executions", int, "executions of the launch in a row; times are of one"),
    Column("restored", int, "1 where buffers were put back before every run"),
    Column("repeats", int, "timed runs"),
    Column("time_s", float, "median"),
    Column("minimum_s", float, "shortest"),
    Column("maximum_s", float, "longest"),
    Column("lower_quartile_s", float, "lower quartile"),
    Column("upper_quartile_s", float, "upper quartile"),
    Column("spread", float, "interquartile range over median"),
    Column("batch_s", float, "per launch of a batch between two events, launch gap included (short ones)"),
    Column("batch_launches", int, "launches of that batch"),
    Column("events_s", float, "two events with nothing between them, median"),
    Column("empty_kernel_s", float, "a kernel that does nothing, timed the same way, smallest"),
    *CONDITIONS,
    NOTE,
)
POWER = (
    *IDENTITY,
    Column("power_w", float, "mean board power: the counter's, or sampled where it does not work"),
    Column("counter_w", float, "by the total-energy counter"),
    Column("sampled_w", float, "by instant power samples, the rise discarded"),
    Column("disagreement", float, "(sampled − counter) / counter"),
    Column("lag_s", float, "time constant of the sensor, where a step response was fitted"),
    Column("corrected_w", float, "sampled, the lag undone (A14); only where it was fitted"),
    Column("energy_j", float, "per run of the program"),
    Column("run_s", float, "time per run within the loop"),
    Column("busy", float, "share of it that the program's own launches take"),
    Column("runs", int, "runs measured"),
    Column("window_s", float, "seconds measured, the rise discarded"),
    Column("samples", int, "readings of the sensors"),
    *CONDITIONS,
    NOTE,
)
FILES = {"time_cold": TIME, "time_warm": TIME, "power": POWER}
"""Columns by protocol."""
