// What the stand-ins for closed libraries call.
#pragma once

#include <cstddef>
#include <cstdint>

#define LIBRARY_API extern "C" __attribute__((visibility("default")))

// The last word is the stream that it works in; or it sets state, and nobody waits for an answer.
enum class LibraryCallWay { kPlain, kInStream, kUnanswered };

// Calls a function of a closed library with what integer registers and the stack hold, and the first two
// floating-point registers.
LIBRARY_API std::int64_t warpwatt_library_call(const char* name, const std::uint64_t* words,
                                               std::size_t count, LibraryCallWay way, double first,
                                               double second, const void* called_from);
