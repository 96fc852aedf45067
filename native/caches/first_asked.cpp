#include "caches/first_asked.h"

#include <vector>

#include "caches/line.h"
#include "caches/radix_sort.h"

namespace {

constexpr std::int64_t kNever = -1;

// Of a block, that asks for one.
struct AskedSector {
    std::int64_t sector;
    std::int32_t block;
};

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

void asked_pieces(std::int64_t rows, const std::int32_t* asking, const std::int32_t* asking_block,
                  const std::int64_t* asked_sector, const std::uint8_t* wanted, std::int64_t piece,
                  std::int64_t* sectors, std::int64_t* pieces) {
    std::vector<AskedSector> asked;
    for (std::int64_t row = 0; row < rows; ++row)
        if (wanted[asking[row]]) asked.push_back({asked_sector[row], asking_block[row]});
    warpwatt::caches::radix_sort(asked, [](const AskedSector& of) { return of.sector; });
    warpwatt::caches::radix_sort(asked, [](const AskedSector& of) { return std::int64_t{of.block}; });
    *sectors = *pieces = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const AskedSector& of = asked[i];
        const AskedSector* before = i > 0 && asked[i - 1].block == of.block ? &asked[i - 1] : nullptr;
        const bool again = before != nullptr && before->sector == of.sector;
        const bool near = before != nullptr &&
                          (of.sector <= before->sector + 1 || of.sector / piece == before->sector / piece);
        *sectors += !again;
        *pieces += !near;
    }
}
