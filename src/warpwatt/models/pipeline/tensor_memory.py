"""Instructions of tensor memory in the simulator's table: products, copies, commits, loads and stores.

A product's interval is the longer of its multiply-adds and of its operands' bytes in shared memory over 128
per cycle; what it takes until a wait returns is its multiply-adds and a constant, whatever the type. Of a
pair of blocks each SM does half of the rows and reads half of B.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.program import Access, Address, Instruction
from warpwatt.isa.sass.products import Product, assumed, is_product, product_of
from warpwatt.models.pipeline.codes import ObjectUse, Operation, Reason

if TYPE_CHECKING:
    from warpwatt.models.pipeline.arithmetic import Row
    from warpwatt.models.pipeline.machine import Machine

IN_TENSOR_MEMORY = ("UTC", "LDTM", "STTM", "UGETNEXTWORKID")
_DEPTH_BYTES = 32
_DEPTH = 16
"""Of half precision, in elements; of all types K takes 32 bytes and as long."""
_OPERAND_BYTES = 128
"""Per cycle, from shared memory."""
_COPY_BYTES = {"4x32dp128bit": 512, "128dp128bit": 2048}
_WIDEST_COPY = 4096
_LANES = 32


def fill_tensor_memory(
    instructions: Sequence[Instruction], instruction: Instruction, machine: Machine, row: Row
) -> None:
    """Fill in a row of the table."""
    base = instruction.opcode.partition(".")[0]
    if is_product(instruction.opcode):
        _product(
            product_of(instructions, instruction.index) or assumed(instruction.opcode),
            instruction,
            machine,
            row,
        )
    elif base == "UTCCP":
        size = next((b for m, b in _COPY_BYTES.items() if m in instruction.opcode.split(".")), _WIDEST_COPY)
        row["operation"], row["tensor_cycles"] = Operation.TENSOR_MEMORY_MMA, max(1, size // _OPERAND_BYTES)
        row["latency"] = machine.values["tensor_copy_latency"]
    elif base in ("UTCBAR", "UGETNEXTWORKID"):
        row["operation"], row["object_use"] = Operation.TENSOR_MEMORY_COMMIT, ObjectUse.CHANGE
        row["latency"] = machine.values["shared_latency"]
        row["operand_read_latency"] = machine.values["shared_store_read"]
        row["shared_memory"], row["lsu_cycles"] = True, machine.lsu_cycles
    elif instruction.memory is not None:
        _registers(instruction, machine, row)


def _product(product: Product, instruction: Instruction, machine: Machine, row: Row) -> None:
    v = machine.values
    rate = machine.rates.get("tensor_fp16_fma", 4096.0)
    math = product.rows * product.n * _DEPTH / rate
    first = instruction.operands[0]
    in_tensor = isinstance(first, Address) and "tmem" in first.modifiers
    share = 2 if product.pair else 1
    read = _DEPTH_BYTES * (product.n // share + (0 if in_tensor else product.m // share))
    row["operation"] = Operation.TENSOR_MEMORY_MMA
    row["tensor_cycles"] = max(1, round(max(math, read / _OPERAND_BYTES)))
    half = "half_" if product.m // share == 64 else ""
    constant = v[f"tensor_memory_{half}{'pair_' if product.pair else ''}latency"]
    row["latency"] = math + constant - (v["tensor_memory_a_saves"] if in_tensor else 0)


def _registers(instruction: Instruction, machine: Machine, row: Row) -> None:
    """Fill in a load or store of a warp's lanes, which share the way to registers of the memory pipe."""
    v, memory = machine.values, instruction.memory
    assert memory is not None
    size = _LANES * memory.bytes
    loads = memory.access is Access.LOAD
    row["operation"] = Operation.MEMORY
    row["throttle_stall"], row["result_stall"] = Reason.MIO_THROTTLE, Reason.SHORT_SCOREBOARD
    row["lsu_cycles"] = size / v["tensor_load_bytes" if loads else "tensor_store_bytes"]
    row["latency"] = v["tensor_load_latency"] + size / v["tensor_load_warp_bytes"]
    row["operand_read_latency"] = v["shared_load_read"] if loads else v["shared_store_read"]
