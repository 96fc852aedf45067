"""A port for people: the verdict first, both systems side by side, then every loop nest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.units import binary_bytes, si
from warpwatt.published.resios.machine import tables
from warpwatt.published.resios.port import Verdict
from warpwatt.render.console import GLUE, QUIET, panel, plain, section, to_text
from warpwatt.render.figures import count, dimensions, interval, percent, plural, quantity

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel

    from warpwatt.published.resios.c_loops.sequential import Sequential
    from warpwatt.published.resios.port import Agreement, Port, PortedNest
    from warpwatt.published.resios.port.result import Costs
    from warpwatt.render.context import Context

GOOD, BAD, DOUBTFUL = "bold green", "bold red", "bold yellow"
_STYLES = {Verdict.ONCE: GOOD, Verdict.REPEATED: GOOD, Verdict.NEVER: BAD}
MOST_ACCESSES = 8
"""Memory accesses shown per nest."""


def render(ports: Sequence[Port], agreements: Sequence[Agreement], context: Context) -> str:
    """Return the report of a function on one GPU or several."""
    return to_text(_parts(ports, agreements, context), context)


def _parts(
    ports: Sequence[Port], agreements: Sequence[Agreement], context: Context
) -> Iterator[RenderableType]:
    for port in ports:
        yield _headline(port)
        yield from section("Cost of one call", _costs(port))
        for number, nest in enumerate(port.nests, start=1):
            yield from _nest(port, nest, number)
        yield from (Text(f"! {plain(w)}", style="yellow") for w in port.warnings)
    if agreements:
        yield from section("Emitted program against the compiled C", *map(_agreement, agreements))
    yield Text("")
    yield Text(_provenance(ports[0], context), style=QUIET)


def _headline(port: Port) -> Panel:
    facts = Table.grid(padding=(0, 1))
    facts.add_column(style=QUIET, no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("Verdict", Text(port.verdict, style=_STYLES.get(port.verdict, DOUBTFUL)))
    facts.add_row("Speed-up", Text(_speedup(port)))
    seconds = port.sequential.seconds
    took = "" if seconds is None else f"{si(seconds, 's')}{_spread(port.sequential)}, "
    facts.add_row("Sequential", Text(f"{took}{port.sequential.note}"))
    facts.add_row("Data", Text(_data(port)))
    facts.add_row("Block", Text("; ".join(_block(nest) for nest in port.nests)))
    function = port.bound.function
    where = f"{function.name} ({Path(function.file).name}:{function.line})"
    return panel(facts, plain(where), f"{port.gpu.name} · {port.gpu.target}")


def _spread(found: Sequential) -> str:
    """Return the interval of the calls measured, how many there were and on which processor."""
    if found.low is None or found.high is None or not found.repeats:
        return ""
    return (
        f" ({si(found.low, 's')} to {si(found.high, 's')}, {plural(found.repeats, 'call')}, {found.machine})"
    )


def _data(port: Port) -> str:
    """Return what is copied and what stays on the GPU."""
    own = [a.name for a in port.program.bound.function.arrays if a.temporary]
    parts = [f"to the GPU {', '.join(port.copied_in) or 'nothing'}", f"back {', '.join(port.copied_out)}"]
    if own:
        parts.append(f"only there {', '.join(own)}")
    return "; ".join(parts)


def _block(nest: PortedNest) -> str:
    block = dimensions(nest.prognosis.block)
    return f"{block} threads, {plural(nest.prognosis.grid.count, 'block')} ({nest.prognosis.warps.rule})"


def _speedup(port: Port) -> str:
    """Return sequential over parallel time three ways: from nothing, with a context, with the data there."""
    seconds, costs = port.sequential.seconds, port.costs
    if seconds is None:
        return "unknown"
    ways = (("whole process", costs.cold), ("warm process", costs.warm), ("data on the GPU", costs.resident))
    text = ", ".join(f"{name} {times(seconds / c.value)}" for name, c in ways if c is not None)
    if costs.context is None:
        text += "; creating the context is not counted: --context-ms says how long it takes here"
    calls = costs.calls_to_break_even(seconds)
    return text + (f"; pays from {plural(calls, 'call')} on" if calls is not None else "")


def times(ratio: float) -> str:
    """Return a speed-up.

    >>> times(12.34), times(0.0123)
    ('12.3×', '0.0123×')
    """
    return f"{ratio:.3g}×"


def _costs(port: Port) -> Table:
    table = _table("", "kernels", "launches", "copies", "context", "all", "speed-up", right=6)
    for name, costs in _systems(port):
        ratio = port.speedup(costs)
        context = "not counted" if costs.context is None else quantity(costs.context)
        cells = map(quantity, (costs.kernels, costs.launches, costs.copies))
        whole = quantity(costs.cold or costs.warm)
        gain = "unknown" if ratio is None else times(ratio)
        table.add_row(name, *map(_whole, (*cells, context, whole, gain)))
    return table


def _systems(port: Port) -> Iterator[tuple[str, Costs]]:
    yield "Resios (2011)", port.resios
    if port.model is not None:
        prediction = port.nests[0].prediction
        assert prediction is not None
        yield f"{prediction.timing.model} on the kernel", port.model


def _nest(port: Port, nest: PortedNest, number: int) -> Iterator[RenderableType]:
    loops = " and ".join(f"{b.loop.variable.name} (line {b.loop.line})" for b in nest.mapping.loops)
    times = f", launched {nest.launches} times" if nest.launches > 1 else ""
    title = f"Kernel{' ' + str(number) if len(port.nests) > 1 else ''}: threads over {loops}{times}"
    yield from section(title, _numbers(nest), Text(""), _accesses(nest))
    if nest.prediction is not None:
        yield Text(f"  {_predicted(nest)}")
        if len(nest.alternatives) > 1:
            yield _alternatives(nest)
    elif nest.note:
        yield Text(f"  ! no prediction of the kernel: {plain(nest.note)}", style="yellow")


def _numbers(nest: PortedNest) -> Table:
    found = nest.prognosis
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(no_wrap=True)
    intensity = "∞" if found.intensity == float("inf") else f"{found.intensity:.2f}"
    rows = (
        (
            "time",
            si(found.seconds, "s"),
            "ILP, mean TLP",
            f"{found.parallelism:.2f}, {found.threads_ready:.1f}",
        ),
        ("bandwidth", si(found.bandwidth, "B/s"), "registers", f"{found.registers} per thread"),
        ("FLOP/s", si(found.flop_rate, "FLOP/s"), "spills, reloads", f"{found.spills}, {found.reloads}"),
        ("intensity", f"{intensity} on-chip per off-chip", "shared memory", _shared(nest)),
    )
    for row in rows:
        table.add_row(*(Text(cell, style=QUIET if i % 2 == 0 else "") for i, cell in enumerate(row)))
    return table


def _shared(nest: PortedNest) -> str:
    chosen = nest.prognosis.shared
    if not chosen:
        return "nothing to gain"
    parts = (f"{o.array}{'' if o.whole else ' (part)'} {binary_bytes(o.size)}" for o in chosen)
    return ", ".join(parts)


def _accesses(nest: PortedNest) -> Table:
    table = _table(
        "line", "access", "where", "per thread", "requests", "of memory time", "nothing else runs", right=4
    )
    for access in nest.prognosis.accesses[:MOST_ACCESSES]:
        ways = f"{access.conflicts} conflicts" if access.conflicts else "no conflict"
        cells = (
            str(access.line),
            f"{'store' if access.store else 'load'} {access.array}",
            "shared" if access.shared else "global",
            count(access.frequency),
            ways if access.shared else str(access.requests),
            percent(access.delay_share),
            percent(access.idle_share),
        )
        table.add_row(*map(_whole, cells))
    return table


def _predicted(nest: PortedNest) -> str:
    prediction = nest.prediction
    assert prediction is not None
    parts = [interval(prediction.time), interval(prediction.power), interval(prediction.energy)]
    return f"Kernel {nest.generated.name}: {', '.join(parts)}; limited by {prediction.timing.bottleneck}"


def _alternatives(nest: PortedNest) -> Table:
    """Return the ways to write a kernel, fastest first, by the predicted time of a launch in the middle."""
    table = _table("", "written as", "predicted", right=1)
    for one in nest.alternatives:
        note = " (sums in another order)" if one.reorders else ""
        table.add_row("  taken" if one.taken else "", f"{one.name}{note}", si(one.seconds, "s"))
    return table


def _table(*names: str, right: int) -> Table:
    """Return a table whose heads and names are broken where the terminal is narrow; figures never are."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for position, name in enumerate(names):
        table.add_column(name, justify="right" if position >= len(names) - right else "left")
    return table


def _whole(cell: str) -> str:
    """Return a cell that no line break divides."""
    return cell.replace(" ", GLUE)


def _agreement(one: Agreement) -> Text:
    if one.exact:
        return Text(f"{one.array}: all {one.elements} elements equal to the last bit", style="green")
    share = f"{one.different} of {one.elements} elements differ, by {one.relative:.2g} of the largest at most"
    return Text(f"{one.array}: {share}", style="yellow")


def _provenance(port: Port, context: Context) -> str:
    machine = port.nests[0].prognosis
    own = "its own GTX 460" if machine.machine.thesis else "data-sheet and measured values"
    simulated = f"{machine.simulated} warps simulated ({machine.policy}), {own}"
    return (
        f"Resios: {simulated}; overhead by {tables()['memory']['source']}. Data parallelism was proved for "
        f"these sizes. WarpWatt {context.version}."
    )
