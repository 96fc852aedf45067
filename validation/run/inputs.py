"""Inputs for programs whose own data does not come with their sources: small and random."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np


def graph(nodes: int, degree: int) -> bytes:
    """Return a graph for Rodinia's bfs: each node's first edge and number of edges, a source, the edges."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 2 * degree, nodes)
    starts = np.cumsum(counts) - counts
    ends = rng.integers(0, nodes, counts.sum())
    lines = [str(nodes), *(f"{s} {c}" for s, c in zip(starts, counts, strict=True)), "", "0", ""]
    return "\n".join([*lines, str(len(ends)), *(f"{end} 1" for end in ends), ""]).encode()


def numbers(count: int, low: float, high: float) -> bytes:
    """Return numbers, one on each line."""
    values = np.random.default_rng(1).uniform(low, high, count)
    return "".join(f"{value:.6f}\n" for value in values).encode()


def keys(count: int) -> bytes:
    """Return keys for Rodinia's b+tree: how many, then 1 to as many."""
    return "".join(f"{key}\n" for key in [count, *range(1, count + 1)]).encode()


def mesh(elements: int) -> bytes:
    """Return a mesh for Rodinia's cfd: areas, four neighbours and their normals; elements lie in a ring."""
    rng = np.random.default_rng(2)
    normals = rng.normal(size=(elements, 4, 3)) * 1e-3
    normals[:, 2:] = -normals[:, :2]  # a closed surface: normals add up to nothing
    lines = [str(elements)]
    for k in range(elements):
        around = [(k + step) % elements + 1 for step in (1, 2, -1, -2)]
        faces = (f"{n} {x:.9f} {y:.9f} {z:.9f}" for n, (x, y, z) in zip(around, normals[k], strict=True))
        lines.append(f"{1 + rng.random():.6f} {' '.join(faces)}")
    return ("\n".join(lines) + "\n").encode()


def features(points: int, each: int) -> bytes:
    """Return points for Rodinia's kmeans: a number, then features."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 5, points)[:, None] * 10 + rng.random((points, each))
    return "".join(f"{k} {' '.join(f'{v:.4f}' for v in row)}\n" for k, row in enumerate(values)).encode()


def hurricanes(count: int) -> bytes:
    """Return records for Rodinia's nn, as its generator writes them."""
    rng = np.random.default_rng(4)
    return "".join(
        f"{rng.integers(1950, 2005):4d} {rng.integers(1, 13):2d} {rng.integers(1, 29):2d} {6:2d} "
        f"{rng.integers(1, 29):2d} {'ALBERTO':9s} {rng.uniform(7, 70):5.1f} {rng.uniform(0, 359):5.1f} "
        f"{rng.integers(10, 165):4d} {rng.integers(0, 900):4d}\n"
        for _ in range(count)
    ).encode()


def text(size: int) -> bytes:
    """Return bytes of few kinds, some more frequent than others."""
    return np.random.default_rng(5).geometric(0.2, size).clip(1, 60).astype(np.uint8).tobytes()


def picture(rows: int, columns: int) -> bytes:
    """Return grey values as a PGM with one comment, numbers in rows."""
    values = np.random.default_rng(6).integers(1, 255, (rows, columns))
    lines = [f"P2\n# random\n{columns} {rows} 255", *(" ".join(map(str, row)) for row in values), ""]
    return "\n".join(lines).encode()


def genome(bases: int, name: str) -> bytes:
    """Return a sequence in FASTA."""
    letters = np.random.default_rng(7).choice(list("acgt"), bases)
    rows = ("".join(letters[k : k + 70]) for k in range(0, bases, 70))
    return (f">{name}\n" + "\n".join(rows) + "\n").encode()


def reads(bases: int, count: int, length: int) -> bytes:
    """Return pieces of that sequence in FASTA."""
    whole = b"".join(genome(bases, "x").split(b"\n")[1:]).decode()
    starts = np.random.default_rng(8).integers(0, bases - length, count)
    return "".join(f">{k}\n{whole[s : s + length]}\n" for k, s in enumerate(starts)).encode()


@cache
def film(rows: int, columns: int, frames: int) -> bytes:
    """Return an AVI of grey frames, not compressed, with bright rings that wander."""
    size = rows * columns
    header = struct.pack("<14I", 40000, size, 0, 0x10, frames, 0, 1, size, columns, rows, 0, 0, 0, 0)
    rates = (0, 0, 0, 1, 25, 0, frames, size, 0, 0, 0, 0, 0, 0, 0)
    stream = struct.pack("<4s4s11I4H", b"vids", b"DIB ", *rates)
    format_ = struct.pack("<IiiHHIIiiII", 40, columns, rows, 1, 8, 0, size, 0, 0, 0, 0)
    strl = _list(b"strl", _chunk(b"strh", stream) + _chunk(b"strf", format_))
    pictures = [_chunk(b"00db", _frame(rows, columns, k)) for k in range(frames)]
    movi, at, index = b"".join(pictures), 4, b""
    for one in pictures:
        index += struct.pack("<4sIII", b"00db", 0x10, at, size)
        at += len(one)
    body = _list(b"hdrl", _chunk(b"avih", header) + strl) + _list(b"movi", movi) + _chunk(b"idx1", index)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"AVI " + body


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _list(name: bytes, data: bytes) -> bytes:
    return b"LIST" + struct.pack("<I", 4 + len(data)) + name + data


def _frame(rows: int, columns: int, number: int) -> bytes:
    rng = np.random.default_rng(9)
    y, x = np.mgrid[:rows, :columns]
    values = rng.normal(90, 6, (rows, columns))
    for row, column in zip(rng.uniform(40, rows - 40, 30), rng.uniform(40, columns - 40, 30), strict=True):
        distance = np.hypot(y - row - number, x - column - number)
        values += 90 * np.exp(-(((distance - 10) / 3) ** 2))
    return values.clip(0, 255).astype(np.uint8).tobytes()
