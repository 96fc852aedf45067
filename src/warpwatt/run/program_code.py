"""The program's code on a device: its modules, kernels and variables, and what the runtime tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.layout import parameter_offsets
from warpwatt.gpus import occupancy
from warpwatt.run import codes
from warpwatt.run import protocol as p
from warpwatt.run.answer import INVALID_DEVICE_FUNCTION, Answer
from warpwatt.run.memory import Allocations, Arena, Block
from warpwatt.run.modules import Module
from warpwatt.run.work import Function, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel


@dataclass(slots=True)
class ProgramCode:
    """Code of one program; kernels are kept where they are launched (:class:`~warpwatt.run.work.Work`)."""

    gpu: Gpu
    """Whose properties the program reads."""
    arena: Arena
    allocations: Allocations
    work: Work
    program: str = ""
    modules: dict[int, Module] = field(default_factory=dict)

    def module(self, record: p.Module) -> Answer:
        """Take code of the program."""
        self.modules[record.module] = Module(record.data, f"device code {record.module} of {self.program}")
        return Answer()

    def symbols(self, record: p.ModuleSymbols) -> Answer:
        """Tell which kernels and variables a module has."""
        module = self.modules[record.module]
        lines = [f"function {name}" for name in module.entries(self.gpu.target)]
        for name, variable in module.variables(self.gpu.target).items():
            flags = codes.VariableFlag.CONSTANT if variable.space == "const" else codes.VariableFlag(0)
            lines.append(f"variable {name} {variable.size} {variable.align} {int(flags)}")
        return Answer(data="".join(f"{line}\n" for line in lines).encode())

    def function(self, record: p.Function) -> Answer:
        """Give a kernel a number."""
        self.work.functions[record.function] = Function(self.modules[record.module], record.data.decode())
        return Answer()

    def variable(self, record: p.Variable) -> Answer:
        """Give a variable its address and first contents."""
        name = record.data.decode()
        self.allocations.add(Block(record.address, record.size, codes.Memory.VARIABLE, name))
        initial = self.modules[record.module].place(name, record.address, self.gpu.target)
        self.arena.bytes_at(record.address, len(initial))[:] = np.frombuffer(initial, np.uint8)
        return Answer()

    def attributes(self, record: p.FunctionAttributes) -> Answer:
        """Tell what a kernel needs: its registers, shared memory, parameters."""
        kernel = self.work.kernel(record.function)
        if kernel is None:
            return Answer(INVALID_DEVICE_FUNCTION)
        needs, program = kernel.resources, kernel.program()
        at = parameter_offsets(program)
        parameters = [p.Parameter(at[one.name], one.size) for one in program.parameters]
        version = int("".join(c for c in kernel.target if c.isdigit()))
        reply = p.FunctionAttributesReply(
            static_shared_bytes=needs.static_shared,
            constant_bytes=needs.constant,
            local_bytes=needs.local,
            registers=needs.registers,
            max_threads_per_block=min(needs.max_threads or 1024, self._thread_limit(kernel)),
            ptx_version=version,
            binary_version=version,
            parameters=len(parameters),
            data=b"".join(one.pack() for one in parameters),
        )
        return Answer(data=reply.pack())

    def _thread_limit(self, kernel: Kernel) -> int:
        """Return the threads of a block that the registers allow."""
        cap, each = self.gpu.capability, max(1, kernel.resources.registers)
        warps = cap.max_registers_per_block // (each * cap.warp_size)
        return min(cap.max_threads_per_block, max(1, warps) * cap.warp_size)

    def set(self, record: p.FunctionSetting) -> Answer:
        """Keep what the program asks of a kernel: more dynamic shared memory, a split of L1."""
        function = self.work.functions.get(record.function)
        if function is None:
            return Answer(INVALID_DEVICE_FUNCTION)
        if record.setting is codes.Setting.MAX_DYNAMIC_SHARED:
            function.max_dynamic_shared = record.value
        elif record.setting is codes.Setting.CARVEOUT:
            function.carveout = record.value if 0 <= record.value <= 100 else None
        return Answer()

    def occupancy(self, record: p.Occupancy) -> Answer:
        """Tell how many blocks or clusters of a kernel are resident at one time."""
        kernel = self.work.kernel(record.function)
        if kernel is None:
            return Answer(INVALID_DEVICE_FUNCTION)
        launch = Launch(Dim3(1 << 20), Dim3(record.threads_per_block), int(record.dynamic_shared_bytes))
        blocks = occupancy(self.gpu, kernel.resources, launch).blocks_per_sm
        clusters = blocks * self.gpu.sm_count // max(1, record.blocks_per_cluster)
        return Answer(data=p.OccupancyReply(blocks, clusters).pack())


HANDLERS: Mapping[codes.Type, Callable[[ProgramCode, Any], Answer]] = {
    codes.Type.MODULE: ProgramCode.module,
    codes.Type.MODULE_SYMBOLS: ProgramCode.symbols,
    codes.Type.FUNCTION: ProgramCode.function,
    codes.Type.VARIABLE: ProgramCode.variable,
    codes.Type.FUNCTION_ATTRIBUTES: ProgramCode.attributes,
    codes.Type.FUNCTION_SETTING: ProgramCode.set,
    codes.Type.OCCUPANCY: ProgramCode.occupancy,
}
