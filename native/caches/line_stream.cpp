#include "caches/line_stream.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "c_api.h"
#include "caches/access_order.h"
#include "caches/line.h"

namespace warpwatt::caches {

namespace {

constexpr double kSectorBytes = 32;

class LineStreamWriter {
public:
    LineStreamWriter(const AccessTrace& trace, const AccessingCode& code, const StreamRows& rows)
        : trace_(trace), code_(code), rows_(rows), order_(trace.warps_per_block) {}

    void write() {
        for (std::int64_t first = 0; first < trace_.warps; first += trace_.warps_per_block) {
            const std::int64_t behind = std::min(trace_.warps, first + trace_.warps_per_block);
            if (code_.awaits != nullptr) order_accesses(first, behind);
            for (std::int64_t warp = first; warp < behind; ++warp)
                for_each_access(warp, [&](std::int64_t access, std::int64_t barriers, std::int64_t place) {
                    const bool waits = code_.awaits != nullptr;
                    write_lines(access, warp, waits ? order_.time(warp - first, barriers, place) : place);
                });
        }
    }

private:
    // Counts the accesses of a block's warps.
    void order_accesses(std::int64_t first, std::int64_t behind) {
        order_.clear();
        for (std::int64_t warp = first; warp < behind; ++warp)
            for_each_access(warp, [&](std::int64_t, std::int64_t barriers, std::int64_t) {
                order_.count(warp - first, barriers);
            });
        order_.finish();
    }

    // Calls `visit(access, barriers, place)` with each access of a warp, the barriers that its warp has
    // passed before, and the place in the warp's order of the first access of its burst.
    template <typename Visit>
    void for_each_access(std::int64_t warp, Visit visit) {
        const std::int64_t first = trace_.access_start[warp], behind = trace_.access_start[warp + 1];
        if (first < behind) count_barriers(warp);
        std::int64_t begin = first;
        for (std::int64_t access = first; access < behind; ++access) {
            if (access > first && !back_to_back(access)) begin = access;
            visit(access, passed_before(warp, access), begin - first);
        }
    }

    // Whether an access is issued back to back with the one before.
    bool back_to_back(std::int64_t access) const {
        const std::int32_t* instruction = trace_.access_instruction + access;
        return code_.burst != nullptr && trace_.access_step[access] == trace_.access_step[access - 1] &&
               code_.burst[instruction[0]] == code_.burst[instruction[-1]];
    }

    // Notes for each step of a warp how many barriers lie before it.
    void count_barriers(std::int64_t warp) {
        if (code_.awaits == nullptr) return;
        passed_.clear();
        std::int64_t barriers = 0;
        for (std::int64_t step = trace_.step_start[warp]; step < trace_.step_start[warp + 1]; ++step) {
            passed_.push_back(barriers);
            barriers += code_.awaits[trace_.step_block[step]];
        }
    }

    std::int64_t passed_before(std::int64_t warp, std::int64_t access) const {
        return code_.awaits ? passed_[trace_.access_step[access] - trace_.step_start[warp]] : 0;
    }

    void write_lines(std::int64_t access, std::int64_t warp, std::int64_t time) {
        const std::int64_t first = trace_.line_start[access], behind = trace_.line_start[access + 1];
        if (first == behind) return;
        const std::int32_t instruction = trace_.access_instruction[access];
        const double moved = bytes_per_sector(access);
        const bool whole = (code_.kind[instruction] & kWrites) != 0 && moved >= kSectorBytes;
        const auto block = static_cast<std::int32_t>(warp / trace_.warps_per_block);
        for (std::int64_t row = first; row < behind; ++row) {
            rows_.instruction[row] = instruction;
            rows_.block[row] = block;
            rows_.warp[row] = static_cast<std::int32_t>(warp);
            rows_.time[row] = time;
            rows_.line[row] = static_cast<std::int64_t>(trace_.lines[row] >> kLineBits);
            rows_.sectors[row] = static_cast<std::uint8_t>(trace_.lines[row] & kSectorBits);
            rows_.kind[row] = static_cast<std::uint8_t>(code_.kind[instruction] | (whole ? kWritesWhole : 0));
            rows_.bytes_per_sector[row] = moved;
        }
    }

    double bytes_per_sector(std::int64_t access) const {
        std::int64_t sectors = 0;
        for (std::int64_t row = trace_.line_start[access]; row < trace_.line_start[access + 1]; ++row)
            sectors += sectors_in(trace_.lines[row]);
        const std::int64_t moved =
            std::popcount(trace_.access_mask[access]) * code_.bytes[trace_.access_instruction[access]];
        return static_cast<double>(moved) / static_cast<double>(std::max<std::int64_t>(1, sectors));
    }

    const AccessTrace& trace_;
    const AccessingCode& code_;
    const StreamRows& rows_;
    AccessOrder order_;
    std::vector<std::int64_t> passed_;  // by step of the warp at hand: barriers before it
};

}  // namespace

void write_line_stream(const AccessTrace& trace, const AccessingCode& code, const StreamRows& rows) {
    LineStreamWriter(trace, code, rows).write();
}

}  // namespace warpwatt::caches

using namespace warpwatt::caches;

// The same of a trace and a code whose columns are given one by one.
WARPWATT_API void line_stream(std::int64_t warps, std::int64_t warps_per_block,
                              const std::int64_t* step_start, const std::int32_t* step_block,
                              const std::int64_t* access_start, const std::int32_t* access_instruction,
                              const std::uint32_t* access_mask, const std::int64_t* access_step,
                              const std::int64_t* line_start, const std::uint64_t* lines,
                              const std::uint8_t* kinds, const std::int64_t* bytes,
                              const std::int64_t* bursts, const std::uint8_t* awaits,
                              std::int32_t* instruction, std::int32_t* block, std::int32_t* warp,
                              std::int64_t* time, std::int64_t* line, std::uint8_t* sectors,
                              std::uint8_t* kind, double* bytes_per_sector) {
    const AccessTrace trace{
        warps,       warps_per_block, step_start, step_block, access_start, access_instruction,
        access_mask, access_step,     line_start, lines};
    write_line_stream(trace, {kinds, bytes, bursts, awaits},
                      {instruction, block, warp, time, line, sectors, kind, bytes_per_sector});
}
