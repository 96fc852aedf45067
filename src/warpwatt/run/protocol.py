"""What a program that runs with our CUDA runtime (the client) and its device tell each other.

The records are those of ``native/runtime/messages.h``, which says what they mean; sizes are in bytes.
A record's ``data`` is what follows it: a name, parameters, lines of text.

>>> Synchronize(stream=3, whole_device=0, device=0).pack().hex()
'03000000000000000000000000000000'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from warpwatt.run.codes import CopyKind, Memory, Resource, Setting, Type
from warpwatt.run.records import F64, I32, I64, U32, U64, F32x4, F64x2, Record, U32x3, U32x4

VERSION = 1
ARENA_ADDRESS = 0x2000_0000_0000
"""Where the client maps the arena: device pointers are the same numbers everywhere."""
SOCKET_VARIABLE = "WARPWATT_RUN_SOCKET"
"""Environment variable with the path of the socket that we listen at."""


@dataclass(frozen=True)
class Header(Record):
    """What stands before every message.

    ``host_time_ns`` is the client's clock: it stands still while the runtime works or waits, and goes on by
    what replies say.
    """

    type: Annotated[Type, "I"]
    flags: U32
    sequence: U64
    host_time_ns: U64
    bytes: U64


@dataclass(frozen=True)
class Reply(Record):
    """An answer. ``waited_ns`` is how long the call takes on the machine that is predicted."""

    error: I32
    flags: U32
    waited_ns: U64
    bytes: U64


@dataclass(frozen=True)
class Hello(Record):
    """The client's first message, with the program's name."""

    version: U32
    process: U32


@dataclass(frozen=True)
class HelloReply(Record):
    """The arena's size and each device's properties, as lines ``key=value`` with an empty line after each."""

    arena_bytes: U64
    devices: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class Module(Record):
    """``images`` fat binaries one after the other, or a cubin, or PTX."""

    module: U64
    images: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class ModuleSymbols(Record):
    """Asks for lines ``function NAME`` and ``variable NAME BYTES ALIGNMENT FLAGS`` of a module."""

    module: U64


@dataclass(frozen=True)
class Function(Record):
    """A kernel, by its name in the module."""

    module: U64
    function: U64
    host_address: U64


@dataclass(frozen=True)
class Variable(Record):
    """A variable, by its name in the module: the device writes its initial contents to ``address``."""

    module: U64
    host_address: U64
    address: U64
    size: U64
    flags: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class FunctionAttributes(Record):
    """Asks what a function needs."""

    function: U64


@dataclass(frozen=True)
class Parameter(Record):
    """Where a parameter lies in a launch's parameters."""

    offset: U32
    bytes: U32


@dataclass(frozen=True)
class FunctionAttributesReply(Record):
    """A function's needs, with a :class:`Parameter` for each of its parameters."""

    static_shared_bytes: U64
    constant_bytes: U64
    local_bytes: U64
    registers: U32
    max_threads_per_block: U32
    ptx_version: U32
    binary_version: U32
    parameters: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class FunctionSetting(Record):
    """What the program sets of a function."""

    function: U64
    value: I64
    setting: Annotated[Setting, "I"]
    reserved: U32 = 0


@dataclass(frozen=True)
class Occupancy(Record):
    """Asks how many blocks, or clusters if ``blocks_per_cluster`` is not 0, are resident."""

    function: U64
    dynamic_shared_bytes: U64
    threads_per_block: U32
    blocks_per_cluster: U32


@dataclass(frozen=True)
class OccupancyReply(Record):
    """Blocks on one SM, clusters on the device."""

    blocks_per_sm: U32
    clusters: U32


@dataclass(frozen=True)
class Allocate(Record):
    """An allocation of the arena."""

    address: U64
    size: U64
    stream: U64
    kind: Annotated[Memory, "I"]
    device: U32


@dataclass(frozen=True)
class Free(Record):
    """The end of an allocation."""

    address: U64
    stream: U64


@dataclass(frozen=True)
class Launch(Record):
    """A launch, with its parameters at the function's offsets."""

    function: U64
    stream: U64
    dynamic_shared_bytes: U64
    grid: U32x3
    block: U32x3
    cluster: U32x3
    flags: U32
    device: U32
    priority: U32 = 0


@dataclass(frozen=True)
class Access(Record):
    """Memory is going to be written or moved on the device (``writes``), or read by the host; the reply: what
    was printed.
    """  # noqa: D205 - one sentence

    address: U64
    size: U64
    writes: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class CopyRecord(Record):
    """What was moved, or filled; or is to be, by the device."""

    destination: U64
    source: U64
    size: U64
    stream: U64
    kind: Annotated[CopyKind, "I"]
    flags: U32
    value: U32
    value_bytes: U32
    device: U32
    destination_device: U32


@dataclass(frozen=True)
class StreamCreate(Record):
    """A stream other than 0, the legacy default stream."""

    stream: U64
    priority: I32
    nonblocking: U32
    device: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class Stream(Record):
    """A stream that ends, or is asked whether it is done (``cudaErrorNotReady``)."""

    stream: U64


@dataclass(frozen=True)
class StreamWait(Record):
    """A stream waits for an event."""

    stream: U64
    event: U64


@dataclass(frozen=True)
class EventRecord(Record):
    """An event is recorded in a stream."""

    event: U64
    stream: U64


@dataclass(frozen=True)
class Event(Record):
    """An event that begins, ends, is asked or waited for."""

    event: U64


@dataclass(frozen=True)
class EventElapsed(Record):
    """Asks how long it is from one event to another."""

    start: U64
    end: U64


@dataclass(frozen=True)
class EventElapsedReply(Record):
    """Predicted time between two events."""

    milliseconds: F64


@dataclass(frozen=True)
class Synchronize(Record):
    """The host waits for a stream or the device; the reply has what kernels printed."""

    stream: U64
    whole_device: U32
    device: U32


@dataclass(frozen=True)
class HostFunction(Record):
    """A host function runs in a stream: after what stands before it, which the reply waits for."""

    stream: U64


@dataclass(frozen=True)
class GraphLaunch(Record):
    """A graph is launched; its nodes follow, flagged :attr:`HeaderFlag.IN_GRAPH`."""

    graph: U64
    stream: U64
    nodes: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class Texture(Record):
    """A texture or surface object; ``handle`` is what kernels get."""

    handle: U64
    address: U64
    width: U64
    height: U64
    depth: U64
    pitch: U64
    slice_pitch: U64
    resource: Annotated[Resource, "I"]
    flags: U32
    channel_bits: U32x4
    channel_kind: U32
    address_modes: U32x3
    border: F32x4
    levels: U32
    device: U32


@dataclass(frozen=True)
class TextureDestroy(Record):
    """The end of a texture or surface object."""

    handle: U64


@dataclass(frozen=True)
class Profiler(Record):
    """``cudaProfilerStart`` or ``cudaProfilerStop``."""

    started: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class LibraryCall(Record):
    """A call of a closed library: name, integer arguments and :class:`Contents` of the host's memory.

    A graph makes a call that it captured without a name; the argument is the call's number.
    """

    floats: F64x2
    name_bytes: U32
    words: U32
    contents: U32
    in_capture: U32 = 0
    """Whether the call's stream captures a graph."""


@dataclass(frozen=True)
class Contents(Record):
    """Bytes at an address of the host's own memory."""

    address: U64
    size: U64


@dataclass(frozen=True)
class LibraryCallReply(Record):
    """What a closed library's function returns, with :class:`Contents` to write to the host's memory."""

    result: I64
    writes: U32
    is_missing: U32
    captured: U64 = 0
    """The number of what was not done, but belongs to the graph that is captured."""


@dataclass(frozen=True)
class Unsupported(Record):
    """A function that is not there: its name, NUL, where the program called it."""

    error: I32
    reserved: U32 = 0


@dataclass(frozen=True)
class Reset(Record):
    """``cudaDeviceReset``."""

    device: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class Block(Record):
    """The program's own allocator gives a part of an allocation away, or takes it back."""

    address: U64
    is_given: U32
    reserved: U32 = 0


@dataclass(frozen=True)
class Value(Record):
    """A figure that the program reports about itself, as text ``name=value``."""

    reserved: U64 = 0


@dataclass(frozen=True)
class Bye(Record):
    """The program ends."""

    status: I32
    reserved: U32 = 0


RECORDS: dict[Type, type[Record]] = {
    Type.HELLO: Hello,
    Type.MODULE: Module,
    Type.MODULE_SYMBOLS: ModuleSymbols,
    Type.FUNCTION: Function,
    Type.VARIABLE: Variable,
    Type.FUNCTION_ATTRIBUTES: FunctionAttributes,
    Type.FUNCTION_SETTING: FunctionSetting,
    Type.OCCUPANCY: Occupancy,
    Type.ALLOCATE: Allocate,
    Type.FREE: Free,
    Type.LAUNCH: Launch,
    Type.ACCESS: Access,
    Type.COPY: CopyRecord,
    Type.STREAM_CREATE: StreamCreate,
    Type.STREAM_DESTROY: Stream,
    Type.STREAM_WAIT: StreamWait,
    Type.STREAM_QUERY: Stream,
    Type.EVENT_CREATE: Event,
    Type.EVENT_DESTROY: Event,
    Type.EVENT_RECORD: EventRecord,
    Type.EVENT_QUERY: Event,
    Type.EVENT_SYNCHRONIZE: Event,
    Type.EVENT_ELAPSED: EventElapsed,
    Type.SYNCHRONIZE: Synchronize,
    Type.HOST_FUNCTION: HostFunction,
    Type.GRAPH_LAUNCH: GraphLaunch,
    Type.TEXTURE: Texture,
    Type.TEXTURE_DESTROY: TextureDestroy,
    Type.PROFILER: Profiler,
    Type.LIBRARY_CALL: LibraryCall,
    Type.UNSUPPORTED: Unsupported,
    Type.RESET: Reset,
    Type.BYE: Bye,
    Type.BLOCK: Block,
    Type.VALUE: Value,
}
"""The record of every type of message."""
