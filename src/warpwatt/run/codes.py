"""The numbers in messages between a program that runs with our CUDA runtime and its device, and their bits.

They are those of ``native/runtime/messages.h`` and, where CUDA has such numbers, CUDA's.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Type(IntEnum):
    """Which record follows a header."""

    HELLO = 1
    MODULE = 2
    MODULE_SYMBOLS = 3
    FUNCTION = 4
    VARIABLE = 5
    FUNCTION_ATTRIBUTES = 6
    FUNCTION_SETTING = 7
    OCCUPANCY = 8
    ALLOCATE = 9
    FREE = 10
    LAUNCH = 11
    ACCESS = 12
    COPY = 13
    STREAM_CREATE = 14
    STREAM_DESTROY = 15
    STREAM_WAIT = 16
    STREAM_QUERY = 17
    EVENT_CREATE = 18
    EVENT_DESTROY = 19
    EVENT_RECORD = 20
    EVENT_QUERY = 21
    EVENT_SYNCHRONIZE = 22
    EVENT_ELAPSED = 23
    SYNCHRONIZE = 24
    HOST_FUNCTION = 25
    GRAPH_LAUNCH = 26
    TEXTURE = 27
    TEXTURE_DESTROY = 28
    PROFILER = 29
    LIBRARY_CALL = 30
    UNSUPPORTED = 31
    RESET = 32
    BYE = 33
    BLOCK = 34
    VALUE = 35


class HeaderFlag(IntFlag):
    """Bits of a header: the client waits for a reply; the message is a node of the graph launched last."""

    WANTS_REPLY = 1
    IN_GRAPH = 2


class ReplyFlag(IntFlag):
    """Bits of a reply: launches are pending, memory is not up to date; some memory was not computed.

    ``TIMING_ONLY``: times alone are wanted, large copies need not move anything.
    """

    LAUNCHES_PENDING = 1
    MEMORY_LOST = 2
    TIMING_ONLY = 4


class VariableFlag(IntFlag):
    """What a module's variable is."""

    CONSTANT = 1
    MANAGED = 2
    EXTERNAL = 4


class Setting(IntEnum):
    """What the program sets of a function."""

    MAX_DYNAMIC_SHARED = 1
    CARVEOUT = 2
    CACHE_CONFIG = 3
    NON_PORTABLE_CLUSTER = 4


class Memory(IntEnum):
    """What an allocation is."""

    DEVICE = 1
    MANAGED = 2
    PINNED = 3
    ARRAY = 4
    POOL = 5
    VARIABLE = 6


class LaunchFlag(IntFlag):
    """What kind of launch; one that the client refuses has its error for a priority."""

    COOPERATIVE = 1
    REFUSED = 2


class CopyKind(IntEnum):
    """From where to where, or a fill."""

    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    HOST_TO_HOST = 4
    PEER_TO_PEER = 5
    FILL = 6
    PREFETCH = 7


class CopyFlag(IntFlag):
    """How: without waiting, from pageable memory; by the device itself, after what is pending; by nobody."""

    ASYNCHRONOUS = 1
    PAGEABLE = 2
    BY_DEVICE = 4
    NOT_MOVED = 8


class Resource(IntEnum):
    """What a texture or surface reads (``cudaResourceType``)."""

    ARRAY = 0
    MIPMAPPED_ARRAY = 1
    LINEAR = 2
    PITCH_2D = 3


class TextureFlag(IntFlag):
    """How a texture or surface is read."""

    SURFACE = 1
    NORMALIZED_COORDINATES = 2
    LINEAR_FILTER = 4
    NORMALIZED_FLOAT = 8
    SRGB = 16
    LAYERED = 32
    CUBEMAP = 64
