"""A launch as people write it: on the command line, in a TOML table, or in the source itself.

All three give a :class:`LaunchText`; they are laid over one another and then read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwatt.core.arguments import Argument, Scalar, parse_arguments
from warpwatt.core.errors import InputError, LaunchError, UsageError
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.core.sizes import evaluate
from warpwatt.request.fields import Group, keys
from warpwatt.request.values import format_dimensions, format_pairs


@dataclass(frozen=True, slots=True)
class Request:
    """One kernel and launch to predict; ``kernel`` None means the only one in the source.

    ``loop_counts`` maps source lines to iterations, as pairs so that it can be hashed; ``arguments`` are the
    texts that the launch's arguments were read from.
    """

    kernel: str | None
    launch: Launch
    loop_counts: tuple[tuple[int, float], ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchText:
    """A launch in words; None and empty where nothing is said.

    Sizes may be expressions of macros, whole arguments and, but for the block, of ``bx``, ``by`` and ``bz``.
    """

    kernel: str | None = None
    grid: str | None = None
    block: str | None = None
    cluster: str | None = None
    shared: int | str | None = None
    l2: str | None = None
    arg: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    args: Path | None = None
    """A TOML file with the launch, or parts of it, over which the rest is laid."""

    @property
    def complete(self) -> bool:
        """Whether grid and block are both said."""
        return self.grid is not None and self.block is not None

    def over(self, base: LaunchText) -> LaunchText:
        """Return this laid over ``base``: what is said here wins.

        >>> LaunchText(grid="4", arg=("n=2",)).over(LaunchText(grid="8", block="32", arg=("n=1", "m=3"))).arg
        ('n=2', 'm=3')
        """
        return LaunchText(
            kernel=self.kernel or base.kernel,
            grid=self.grid or base.grid,
            block=self.block or base.block,
            cluster=self.cluster or base.cluster,
            shared=self.shared if self.shared is not None else base.shared,
            l2=self.l2 or base.l2,
            arg=merged(base.arg, self.arg),
            loop=merged(base.loop, self.loop),
            args=self.args or base.args,
        )

    def read(self, defines: Iterable[str] = ()) -> Request:
        """Return the request these words describe.

        ``defines`` are macros, ``NAME=VALUE``, that sizes may name.

        Raises
        ------
        UsageError
            If grid or block is not said.
        LaunchError, ArgumentError, InputError
            If a part cannot be read or is impossible.
        """
        if self.grid is None or self.block is None:
            what = "grid" if self.grid is None else "block"
            hint = f"give --{what} X,Y,Z, or put // warpwatt: and the flags of a launch into the source"
            raise UsageError(f"no launch: the {what} is not known", hint=hint)
        arguments = parse_arguments(self.arg)
        names = _whole_numbers(arguments, defines)
        block = read_dimensions(self.block, names)
        names |= {"bx": block.x, "by": block.y, "bz": block.z}
        launch = Launch(
            grid=read_dimensions(self.grid, names),
            block=block,
            cluster=read_dimensions(self.cluster or "1", names),
            dynamic_shared=evaluate(str(self.shared or 0), names),
            l2=parse_l2(self.l2),
            arguments=arguments,
        )
        return Request(self.kernel, launch, parse_loops(self.loop), self.arg)


def _whole_numbers(arguments: Mapping[str, Argument], defines: Iterable[str]) -> dict[str, int]:
    """Return what expressions may name: whole arguments, and macros, which win."""
    scalars = {name: a.value for name, a in arguments.items() if isinstance(a, Scalar)}
    given = {
        name: int(value) for name, value in scalars.items() if isinstance(value, int) or value.is_integer()
    }
    macros = {name: value for name, _, value in (text.partition("=") for text in defines)}
    return given | {name: int(value) for name, value in macros.items() if value.lstrip("-").isdecimal()}


def read_dimensions(text: str, names: Mapping[str, int]) -> Dim3:
    """Read ``X[,Y[,Z]]``, each an expression; ``16x16`` works too.

    Raises
    ------
    LaunchError
        If a part cannot be read, or is below 1.

    >>> read_dimensions("n/256, 2", {"n": 1000}), read_dimensions("16x16", {})
    (Dim3(x=4, y=2, z=1), Dim3(x=16, y=16, z=1))
    """
    parts = text.lower().split("x") if text.lower().replace("x", "").isdecimal() else text.split(",")
    hint = "write X, X,Y or X,Y,Z: whole numbers, or expressions such as n/256, which rounds up"
    if len(parts) > 3:
        raise LaunchError(f"not a dimension: {text!r}", hint=hint)
    try:
        return Dim3(*(evaluate(part, names) for part in parts))
    except LaunchError:
        raise
    except InputError as error:
        raise LaunchError(f"not a dimension: {text!r}: {error.message}", hint=hint) from None


def parse_l2(text: str | None) -> L2State:
    """Read what L2 holds before the launch; cold where nothing is said.

    >>> parse_l2("warm"), parse_l2(None)
    (<L2State.WARM: 'warm'>, <L2State.COLD: 'cold'>)
    """
    try:
        return L2State(text or L2State.COLD)
    except ValueError:
        raise InputError(f"not a state of L2: {text!r}", hint="write one of " + ", ".join(L2State)) from None


def _name(text: str) -> str:
    return text.partition("=")[0].strip()


def merged(base: tuple[str, ...], top: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``NAME=VALUE`` texts of both, those of ``top`` in place of the same names of ``base``.

    A name given twice in ``top`` stays twice: reading the arguments then reports it.
    """
    texts = {_name(text): [text] for text in base}
    for text in top:
        texts[_name(text)] = [other for other in top if _name(other) == _name(text)]
    return tuple(text for group in texts.values() for text in group)


def parse_loops(texts: Iterable[str]) -> tuple[tuple[int, float], ...]:
    """Read ``LINE=COUNT`` texts.

    >>> parse_loops(["14=100", "20=2.5"])
    ((14, 100.0), (20, 2.5))
    """
    counts = []
    for text in texts:
        line, _, count = text.partition("=")
        try:
            number, iterations = int(line), float(count)
        except ValueError:
            number, iterations = 0, -1.0
        if number < 1 or not 0 <= iterations < float("inf"):
            raise InputError(
                f"not a loop count: {text!r}", hint="write --loop LINE=COUNT, for example --loop 14=100"
            )
        counts.append((number, iterations))
    return tuple(counts)


def from_table(table: Mapping[str, Any], file: Path | str) -> LaunchText:
    """Read a TOML table with the keys kernel, grid, block, cluster, shared, l2, args, loops.

    Dimensions are a number, a text or an array; ``args`` maps names to numbers, booleans or texts of the
    argument grammar; ``loops`` maps source lines to iterations.

    Raises
    ------
    InputError
        If a key is unknown or a value of the wrong type; names the file.

    >>> from_table({"grid": [8, 8], "block": 64, "args": {"n": 5}}, "a.toml").grid
    '8,8'
    """
    known = keys(Group.LAUNCH)
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise InputError(f"unknown key {unknown[0]!r}", file=file, hint="keys: " + " ".join(known))
    for key in ("args", "loops"):
        if not isinstance(table.get(key, {}), dict):
            raise InputError(f"{key} is not a table", file=file, hint=f"write [{key}] and NAME = VALUE lines")
    shared = table.get("shared")
    if shared is not None and (isinstance(shared, bool) or not isinstance(shared, int)):
        raise InputError(f"shared is not a number of bytes: {shared!r}", file=file)
    return launch_of(table)


def launch_of(values: Mapping[str, Any], file: Path | None = None) -> LaunchText:
    """Return the launch of a mapping with the keys of :func:`from_table`, whose types are right."""
    kernel = values.get("kernel")
    return LaunchText(
        kernel=None if kernel is None else str(kernel),
        grid=format_dimensions(values.get("grid")),
        block=format_dimensions(values.get("block")),
        cluster=format_dimensions(values.get("cluster")),
        shared=values.get("shared"),
        l2=None if values.get("l2") is None else str(values["l2"]),
        arg=format_pairs(values.get("args") or {}),
        loop=format_pairs(values.get("loops") or {}),
        args=file,
    )
