#pragma once

namespace warpwatt::caches {

inline constexpr int kSectorsPerLine = 4;  // of 32 bytes each

}  // namespace warpwatt::caches
