#include "caches/first_asked.h"

#include <vector>

#include "caches/line.h"

namespace {

constexpr std::int64_t kNever = -1;

}  // namespace

std::int64_t first_asked(std::int64_t rows, const std::int32_t* instruction, const std::int32_t* block,
                         const std::int32_t* warp, const std::int64_t* time, const std::int64_t* line,
                         const std::uint8_t* sectors, std::int64_t instructions, std::int64_t warps,
                         std::int32_t* asking, std::int32_t* asking_block, std::int64_t* asked_sector) {
    using warpwatt::caches::kSectorsPerLine;
    std::vector<std::int64_t> first(instructions * warps, kNever);
    std::int64_t found = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t& began = first[instruction[row] * warps + warp[row]];
        if (began == kNever) began = time[row];
        if (time[row] != began) continue;
        for (int sector = 0; sector < kSectorsPerLine; ++sector) {
            if (!(sectors[row] >> sector & 1)) continue;
            asking[found] = instruction[row], asking_block[found] = block[row];
            asked_sector[found++] = line[row] * kSectorsPerLine + sector;
        }
    }
    return found;
}
