"""S4U actors on a platform file, with the energy plug-in: run by the interpreter that has SimGrid.

Reads one JSON document from stdin, ``{"platform": FILE, "hosts": {NAME: [[arrival, state, flops, times],
...]}}``, and writes ``{"clock": s, "energy": {NAME: J}, "ends": {NAME: [s, ...]}}`` to stdout. One actor per
host takes its work in order, each not before its arrival, ``times`` rounds of ``flops`` each.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def library() -> ctypes.CDLL:
    """Return libsimgrid, which the module has loaded: only its C interface has the energy plug-in."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if "/libsimgrid.so" in line:
            return ctypes.CDLL(line.split(maxsplit=5)[5])
    return ctypes.CDLL(ctypes.util.find_library("simgrid"))


def work(s4u: Any, tasks: list[list[float]], ends: list[float]) -> None:
    """Do the tasks of one host, one after the other; fill in when each has ended."""
    host = s4u.this_actor.get_host()
    for arrival, state, flops, times in tasks:
        s4u.this_actor.sleep_until(arrival)
        host.pstate = int(state)
        for _ in range(int(times)):
            s4u.this_actor.execute(flops)
        ends.append(s4u.Engine.clock)


def main() -> None:
    """Simulate what stdin says."""
    asked = json.load(sys.stdin)
    s4u = import_module("simgrid")  # here, so that tools may look at this file without it
    simgrid = library()
    arguments = ["worker", "--log=root.thresh:warning", "--cfg=surf/precision:1e-12"]
    engine = s4u.Engine(arguments)
    simgrid.sg_host_energy_plugin_init()
    engine.load_platform(asked["platform"])
    ends: dict[str, list[float]] = {name: [] for name in asked["hosts"]}
    for name, tasks in asked["hosts"].items():
        s4u.Actor.create(name, s4u.Host.by_name(name), work, s4u, tasks, ends[name])
    engine.run()
    simgrid.sg_host_by_name.restype = ctypes.c_void_p
    simgrid.sg_host_get_consumed_energy.restype = ctypes.c_double
    simgrid.sg_host_get_consumed_energy.argtypes = [ctypes.c_void_p]
    simgrid.sg_host_energy_update_all()
    energy = {
        name: simgrid.sg_host_get_consumed_energy(simgrid.sg_host_by_name(name.encode()))
        for name in asked["hosts"]
    }
    json.dump({"clock": s4u.Engine.clock, "energy": energy, "ends": ends}, sys.stdout)


if __name__ == "__main__":
    main()
