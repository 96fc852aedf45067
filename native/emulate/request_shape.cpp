#include "emulate/request_shape.h"

#include <algorithm>
#include <bit>

#include "emulate/shared_banks.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

using Addresses = std::array<std::uint64_t, kLanes>;
using Distances = std::array<std::int32_t, kLanes>;  // from the first lane that is on; 0 of lanes off

constexpr int kMostKept = 32;  // lines of a shape that is remembered
constexpr std::size_t kRoom = 512;
constexpr std::uint64_t kLineMask = (1 << kLineShift) - 1, kWordMask = 3;

// A line relative to that of the first lane.
struct Line {
    std::int32_t distance;
    std::uint32_t sectors;
};

// A shape depends on distances between lanes, and on where in a line (of shared memory in a word: banks are
// alike) the first one is.
struct Remembered {
    LaneMask lanes = 0;
    std::int32_t bytes = 0, lines = 0;
    Space space{};
    std::uint64_t place = 0;
    Distances distances;
    RequestShape shape;
    std::array<Line, kMostKept> touched;
};

// Whether all distances fit.
WARPWATT_WIDE_VECTORS bool distances_of(const Addresses& addresses, LaneMask lanes, Distances& distances) {
    const std::uint64_t first = addresses[first_lane(lanes)];
    std::uint64_t wide = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t on = -static_cast<std::uint64_t>(lanes >> lane & 1);
        const std::uint64_t distance = (addresses[lane] - first) & on;
        wide |= (distance + 0x80000000U) >> 32;
        distances[lane] = static_cast<std::int32_t>(distance);
    }
    return wide == 0;
}

// What does not depend on which lane has which address: lanes in ascending order are quickest to look at.
void measure_ascending(const Addresses& addresses, LaneMask lanes, std::int64_t bytes, Space space,
                       RequestShape& found, TouchedLines& touched) {
    const AddressPattern pattern = pattern_of(addresses, lanes);
    const std::uint64_t first = addresses[first_lane(lanes)];
    found.distinct = distinct_addresses(addresses, lanes, pattern);
    if (served_together(bytes)) found.wavefronts = wavefronts(addresses, lanes, bytes);
    found.highest = static_cast<std::int64_t>(addresses[kLanes - 1 - std::countl_zero(lanes)] - first);
    if (space == Space::kGlobal) touched.add_lanes(addresses, lanes, bytes);
}

RequestShape measure(const Addresses& addresses, LaneMask lanes, std::int64_t bytes, Space space,
                     TouchedLines& touched) {
    RequestShape found{};
    found.pattern = pattern_of(addresses, lanes);
    if (!served_together(bytes)) found.wavefronts = wavefronts(addresses, lanes, bytes);
    if (found.pattern.sorted) {
        measure_ascending(addresses, lanes, bytes, space, found, touched);
        return found;
    }
    const Addresses ordered = ascending_addresses(addresses, lanes);
    const LaneMask packed = kAllLanes >> (kLanes - lane_count(lanes));
    measure_ascending(ordered, packed, bytes, space, found, touched);
    const auto lowest = static_cast<std::int64_t>(ordered[0] - addresses[first_lane(lanes)]);
    found.lowest = lowest, found.highest += lowest;
    return found;
}

void remember(Remembered& kept, std::uint64_t line, const TouchedLines& touched) {
    kept.lines = touched.size();
    std::transform(touched.begin(), touched.end(), kept.touched.begin(), [&](const TouchedLine& found) {
        return Line{static_cast<std::int32_t>(found.line - line), found.sectors};
    });
}

}  // namespace

RequestShape shape_of(const Addresses& addresses, LaneMask lanes, std::int64_t bytes, Space space,
                      std::int32_t hint, TouchedLines& touched) {
    static thread_local std::array<Remembered, kRoom> shapes;
    const std::uint64_t first = addresses[first_lane(lanes)], line = first >> kLineShift;
    const std::uint64_t place = first & (space == Space::kGlobal ? kLineMask : kWordMask);
    Distances distances;
    if (!distances_of(addresses, lanes, distances)) return measure(addresses, lanes, bytes, space, touched);
    Remembered& kept = shapes[(static_cast<std::uint32_t>(hint) * 37 + place / 4) % kRoom];
    if (kept.lanes == lanes && kept.bytes == bytes && kept.space == space && kept.place == place &&
        kept.distances == distances) {
        for (int i = 0; i < kept.lines; ++i)
            touched.append({line + kept.touched[i].distance, kept.touched[i].sectors});
        return kept.shape;
    }
    const RequestShape found = measure(addresses, lanes, bytes, space, touched);
    kept.lanes = touched.size() <= kMostKept ? lanes : 0;  // no request is of no lanes
    if (kept.lanes == 0) return found;
    kept.bytes = static_cast<std::int32_t>(bytes), kept.space = space, kept.place = place;
    kept.distances = distances, kept.shape = found;
    remember(kept, line, touched);
    return found;
}

}  // namespace warpwatt::emulate
