// What warps ask for when they first execute an instruction.
#pragma once

#include <cstdint>

#include "c_api.h"

// Writes the instruction, the block and the sector of everything that warps ask for at their first execution
// of each instruction. Rows of a warp come in its order; those of one time are of one execution. There is
// room for four sectors for each row. Returns how many there are.
WARPWATT_API std::int64_t first_asked(std::int64_t rows, const std::int32_t* instruction,
                                      const std::int32_t* block, const std::int32_t* warp,
                                      const std::int64_t* time, const std::int64_t* line,
                                      const std::uint8_t* sectors, std::int64_t instructions,
                                      std::int64_t warps, std::int32_t* asking, std::int32_t* asking_block,
                                      std::int64_t* asked_sector);

// Counts the sectors that blocks ask for with some instructions, and the pieces in which they lie. A sector
// goes on where the one before ends, or where both lie in one aligned piece of `piece` sectors. `wanted`: by
// instruction whether it counts.
WARPWATT_API void asked_pieces(std::int64_t rows, const std::int32_t* asking,
                               const std::int32_t* asking_block, const std::int64_t* asked_sector,
                               const std::uint8_t* wanted, std::int64_t piece, std::int64_t* sectors,
                               std::int64_t* pieces);
