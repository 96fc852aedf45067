"""Where the server listens and whom it answers."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field

from warpwatt.workers.limits import MIB, Limits

DEFAULT_PORT = 8642


def usual_workers() -> int:
    """Return how many requests run at a time: one per processor, at most four."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; the defaults are safe.

    Attributes
    ----------
    host, port
        Where it listens.
    allowed_hosts
        Further host names that browsers may ask for, such as that of a proxy in front.
    workers, queue
        Requests that run at a time, and that wait; the next one is answered with 503.
    limits
        What one request may cost.
    body
        Bytes of a request's body.
    body_seconds, header_seconds
        Until all of a body, and all of a request's head, must have arrived.
    connections
        Open connections; the next one is answered with 503.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    allowed_hosts: tuple[str, ...] = ()
    workers: int = field(default_factory=usual_workers)
    queue: int = 16
    limits: Limits = field(default_factory=Limits)
    body: int = MIB
    body_seconds: float = 10.0
    header_seconds: float = 10.0
    connections: int = 512

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the ``Host`` header that are answered: a page elsewhere cannot make browsers send them.

        >>> sorted(Settings(port=8000, allowed_hosts=("gpu.example",)).hosts)
        ['127.0.0.1:8000', '[::1]:8000', 'gpu.example', 'localhost:8000']
        """
        names = {bracketed(self.host)}
        if is_loopback(self.host):
            names |= {"localhost", "127.0.0.1", "[::1]"}
        found = {f"{name}:{self.port}" for name in names} | set(self.allowed_hosts)
        return frozenset(name.lower() for name in (found | names if self.port == 80 else found))

    @property
    def origins(self) -> frozenset[str]:
        """Origins whose pages may send requests: the server's own, plain or behind a proxy's TLS."""
        return frozenset(f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https"))


def bracketed(host: str) -> str:
    """Return a host as it stands in a URL.

    >>> bracketed("::1"), bracketed("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
