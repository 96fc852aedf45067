"""SimGrid platform files, as Figure 3 of Boughzala et al. (2020): GPUs are hosts of one core.

A GPU's speed depends on what it runs, so every kind of work has a state (SimGrid's *pstate*) of its own, with
its speed and power; other clocks of the same work are further states. One flop stands for one thread: then
the platform of the paper's Figure 3 comes out for its kernel, 14 blocks of 1024 threads in a round, and other
sizes of the kernel are other amounts on the same state. Work known by its seconds alone counts them in
:data:`~warpwatt.jobs.hosts.FLOPS_PER_SECOND`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from warpwatt.jobs.hosts import Host, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.published.boughzala import BlockModel

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
    return (
        f'    <host id={quoteattr(host.name)} speed="{speeds}" core="1">\n{notes}'
        f'      <prop id="wattage_per_state" value="{watts}"/>\n'
        f'      <prop id="wattage_off" value="{_number(host.off_watts)}"/>\n'
        "    </host>\n"
    )


def _number(value: float) -> str:
    """Return a number as SimGrid reads it: as short as it can be without losing what matters."""
    return f"{value:.12g}"
