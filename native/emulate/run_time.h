// What generated code calls while a warp executes a basic block. `row` numbers a routine's operations on
// memory; arguments and results are in the machine's `addresses` and `values`.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

using warpwatt::emulate::LaneMask;
using warpwatt::emulate::Machine;
using warpwatt::emulate::Warp;

// A warp begins a basic block.
WARPWATT_API void record_step(Machine* machine, const Warp* warp, std::int32_t block);

// Memory. Nothing is moved or counted once the run has met a fault. Values are vectors of 32 lanes, one for
// each element; in memory the elements of a lane are side by side.

// Loads; 0 where a lane is off.
WARPWATT_API void load_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes);

// Loads one address for all lanes to the start of the values, element by element; not from local memory.
WARPWATT_API void load_uniform(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes,
                               std::uint64_t address);

// Stores; of lanes with one address the last prevails.
WARPWATT_API void store_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes);

// Reads, modifies and writes, lane by lane in order; operands are the first two values.
WARPWATT_API void atomic_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes);

// Moves bytes, or a box of a tensor, between global and shared memory for each lane that is on. Values: the
// address in shared memory; that in global memory, of the tensor map, or of the other shared memory; bytes;
// the address of the barrier object that is told; a mask of the cluster's blocks that get the data (0: the
// one that the address names); coordinates, innermost first.
WARPWATT_API void bulk_copy(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes);

// Control.

// The active lanes wait at the end of a basic block for others to converge.
WARPWATT_API void converge_lanes(Machine* machine, Warp* warp, std::int32_t block);

// The registers of lanes that a convergence does not wait for have changed.
WARPWATT_API void converge_waiting_lanes(Machine* machine, Warp* warp);

// Threads end; those that waited for them may go on.
WARPWATT_API void exit_lanes(Machine* machine, Warp* warp, LaneMask lanes);

// The active lanes arrive at a barrier of `expected` threads (0 or less: all that live) and go on behind it
// at basic block `target`; unless they only `arrive`, they wait. `holding`: those whose predicate holds.
WARPWATT_API void arrive_at_barrier(Machine* machine, Warp* warp, std::int64_t number, std::int64_t expected,
                                    std::int32_t arrive, LaneMask holding, std::int32_t target);

// Replaces the barrier numbers in the first values by the results of a BarrierReduction.
WARPWATT_API void read_barrier_results(Machine* machine, Warp* warp, std::int32_t how);

// Sends lanes to the basic blocks that the addresses name.
WARPWATT_API void branch_indirect(Machine* machine, Warp* warp, LaneMask lanes, std::int32_t instruction);

// The active lanes wait until the phase of the barrier object at their address in the machine's `addresses`
// is over whose parity stands in the first values, then go on at basic block `target`. Where nothing else
// can go on, they do so too: a wait with a time-out.
WARPWATT_API void await_phase(Machine* machine, Warp* warp, std::int32_t target);

WARPWATT_API void trap_lanes(Machine* machine, Warp* warp, LaneMask lanes, std::int32_t instruction);

// Others.

// Calls a function in Python on the values, 32 words an argument; its results replace them.
WARPWATT_API void call_function(Machine* machine, std::int32_t function, LaneMask lanes);

// Textures and surfaces, of a Geometry. The first values are the object, the layer where there is one, and
// coordinates (`whole`: integers); results replace them. Objects that are not there read as 0.

// Four channels, as f32 or as integers; of four neighbours one `channel`, if that is not negative (tld4).
WARPWATT_API void fetch_texture(Machine* machine, std::int32_t geometry, std::int32_t whole,
                                std::int32_t as_float, std::int32_t channel, LaneMask lanes);

// Addresses of words that a fetch reads, one for each of at most 4 rows; 0 for none.
WARPWATT_API void find_texture_rows(Machine* machine, std::int32_t geometry, std::int32_t whole,
                                    std::int32_t rows, LaneMask lanes);

// `count` elements; 0 where there are none.
WARPWATT_API void load_surface(Machine* machine, std::int32_t geometry, std::int32_t bytes,
                               std::int32_t count, LaneMask lanes);

// The same, from values from the `first` on; nothing is written where there are no elements.
WARPWATT_API void store_surface(Machine* machine, std::int32_t geometry, std::int32_t bytes,
                                std::int32_t count, std::int32_t first, LaneMask lanes);

// PTX `match.any`: which active lanes have each lane's address, to the values as 32-bit masks.
WARPWATT_API void match_lanes(Machine* machine, LaneMask active);
