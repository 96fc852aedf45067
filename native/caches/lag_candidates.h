// After how many blocks memory may be touched again, where what a block touches moves by a fixed step along
// each axis of the grid: warpwatt.emulate.caches.lags.
#pragma once

#include <cstdint>

#include "c_api.h"

// Writes lags, blocks along x, y and z, by which two sectors of a block lie apart: those between `some`
// sectors and all, which ascend, less than one off, and one block along axes that move by nothing or by parts
// of a sector. `steps` are sectors, `extents` those of the grid; lags stay below `reach`. Of those along x
// alone, of those that reach back in y and of those in z the `most` frequent are kept, the nearest of equals;
// the soonest come first. Returns how many there are; `lags` has room for 3 * `most`.
WARPWATT_API std::int64_t lag_candidates(const std::int64_t* sectors, std::int64_t count,
                                         const std::int64_t* some, std::int64_t some_count,
                                         const double* steps, const std::int64_t* extents,
                                         const std::int64_t* reach, std::int64_t most, std::int64_t* lags);
