// What sets of numbers have in common.
#pragma once

#include <cstdint>

#include "c_api.h"

// Writes the different ones of some numbers, ascending, and how often each occurs, unless `times` is null;
// both have room for all. Returns how many there are.
WARPWATT_API std::int64_t occurrences(std::int64_t count, const std::int64_t* numbers,
                                      std::int64_t* different, std::int64_t* times);

// How many numbers two ascending lists of different ones have in common.
WARPWATT_API std::int64_t count_common(std::int64_t count, const std::int64_t* numbers,
                                       std::int64_t others_count, const std::int64_t* others);
