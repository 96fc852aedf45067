"""Platform files of SimGrid, written and read back.

They follow Figure 3 of Boughzala et al. (2020): GPUs are hosts of one core. A GPU's speed depends on what it
runs, so every kind of work has a state (SimGrid's *pstate*) of its own, with its speed and power; other
clocks of the same work are further states. One flop stands for one thread: then the platform of the paper's
Figure 3 comes out for its kernel, 14 blocks of 1024 threads in a round, and other sizes of the kernel are
other amounts on the same state. Work known by its seconds alone counts them in
:data:`~warpwatt.jobs.hosts.FLOPS_PER_SECOND`. Properties ``gpu`` and ``node``, which SimGrid passes over, say
which GPU a host is and where it is.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from warpwatt.core.errors import InputError
from warpwatt.gpus import find
from warpwatt.jobs.hosts import GPU, NODE, Host, State
from warpwatt.jobs.platform import Device, Platform

if TYPE_CHECKING:
    from warpwatt.published.boughzala import BlockModel

WATTS, OFF = "wattage_per_state", "wattage_off"
HOW = 'a host of a GPU has <prop id="gpu" value="h200"/>, one of a node <prop id="node" value="NAME"/> alone'
_HEAD = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def block_state(model: BlockModel, threads_per_block: int) -> State:
    """Return the state of a kernel from its block model: speed in threads per second, P_s and P_r.

    >>> from warpwatt.published.boughzala import Form, Sample, fit
    >>> runs = [Sample(n, n * 0.30003, 153.65) for n in (14, 28, 140)]
    >>> state = block_state(fit(runs, 14, 29.4, Form.ROUNDS), 1024)
    >>> round(state.speed), state.idle_watts, round(state.busy_watts, 2)
    (3413, 29.4, 153.65)
    """
    speed = threads_per_block / model.seconds_per_block
    return State(speed, model.static_watts, model.round_watts)


def platform_xml(hosts: Sequence[Host]) -> str:
    """Return the platform file.

    >>> print(platform_xml([Host("GPU", (State(3413.0, 29.4, 153.65),), off_watts=10.0)]))
    <?xml version='1.0'?>
    <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
    <platform version="4.1">
      <zone id="AS0" routing="Full">
        <host id="GPU" speed="3413f" core="1">
          <prop id="wattage_per_state" value="29.4:153.65"/>
          <prop id="wattage_off" value="10"/>
        </host>
      </zone>
    </platform>
    <BLANKLINE>
    """
    body = "".join(_host(host) for host in hosts)
    return f'{_HEAD}  <zone id="AS0" routing="Full">\n{body}  </zone>\n</platform>\n'


def _host(host: Host) -> str:
    speeds = ",".join(f"{_number(state.speed)}f" for state in host.states)
    watts = ",".join(f"{_number(state.idle_watts)}:{_number(state.busy_watts)}" for state in host.states)
    notes = "".join(
        f"      <!-- state {i}: {state.what.replace('--', '- -')} -->\n"
        for i, state in enumerate(host.states)
        if state.what
    )
    own = "".join(
        f"      <prop id={quoteattr(name)} value={quoteattr(value)}/>\n"
        for name, value in host.properties.items()
    )
    return (
        f'    <host id={quoteattr(host.name)} speed="{speeds}" core="1">\n{notes}'
        f'      <prop id="wattage_per_state" value="{watts}"/>\n'
        f'      <prop id="wattage_off" value="{_number(host.off_watts)}"/>\n'
        f"{own}    </host>\n"
    )


def _number(value: float) -> str:
    """Return a number that reads back as the same.

    >>> _number(10.0), _number(0.1), _number(4.2e-7)
    ('10', '0.1', '4.2e-07')
    """
    return repr(float(value)).removesuffix(".0")


def read_hosts(path: Path) -> tuple[Host, ...]:
    """Return the hosts of a platform file.

    Raises
    ------
    InputError
        If it cannot be read, or a host lacks its speed or power.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=path) from None
    if b"<!ENTITY" in data:
        raise InputError("entities are not read", file=path, hint="write the values out")
    try:
        root = ET.fromstring(data)  # noqa: S314 - without entities there is nothing to expand
    except ET.ParseError as error:
        line = error.position[0]
        raise InputError(f"not XML: {error}", file=path, line=line) from None
    hosts = tuple(_read_host(host, path) for host in root.iter("host"))
    if not hosts:
        raise InputError("no hosts", file=path, hint=HOW)
    return hosts


def _read_host(host: ET.Element, path: Path) -> Host:
    name = host.get("id", "")
    properties = {prop.get("id", ""): prop.get("value", "") for prop in host.iter("prop")}
    try:
        speeds = [float(text.strip().removesuffix("f")) for text in host.attrib["speed"].split(",")]
        watts = [tuple(map(float, text.split(":"))) for text in properties.pop(WATTS).split(",")]
        states = tuple(
            State(speed, pair[0], pair[-1]) for speed, pair in zip(speeds, watts, strict=True) if pair
        )
        return Host(name, states, float(properties.pop(OFF, 0.0)), properties)
    except (KeyError, ValueError):
        problem = f"host {name!r} has no speed or no {WATTS} that can be read"
        raise InputError(problem, file=path, hint='such as speed="3413f" and "29.4:153.65"') from None


def read_platform_xml(path: Path) -> Platform:
    """Return the GPUs and nodes of a platform file; what its states say of jobs is predicted anew.

    Raises
    ------
    InputError
        As :func:`read_hosts`, or if a host is neither a GPU nor a node.
    UnknownGpuError
        If there is no GPU of a name.
    """
    devices: list[Device] = []
    nodes: dict[str, float] = {}
    for host in read_hosts(path):
        idle, node = host.states[0].idle_watts, host.properties.get(NODE, "")
        if GPU in host.properties:
            devices.append(Device(host.name, node, find(host.properties[GPU]), idle, host.off_watts))
            nodes.setdefault(node, 0.0)
        elif node:
            nodes[node] = idle
        else:
            raise InputError(f"host {host.name!r} is neither a GPU nor a node", file=path, hint=HOW)
    if not devices:
        raise InputError("no GPUs", file=path, hint=HOW)
    return Platform(tuple(devices), nodes)
