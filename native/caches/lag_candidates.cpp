#include "caches/lag_candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace {

using Lag = std::array<std::int64_t, 3>;

constexpr std::int64_t kMostCounted = 1 << 18;  // distances up to which there is a count for each

struct Candidate {
    Lag lag;
    std::int64_t times;
};

// Calls `take(distance, times)` for all distances between `some` sectors and all of them.
template <typename Take>
void count_distances(const std::int64_t* sectors, std::int64_t count, const std::int64_t* some,
                     std::int64_t some_count, Take take) {
    const auto [low, high] = std::minmax_element(some, some + some_count);
    const std::int64_t least = sectors[0] - *high;
    const std::int64_t range = sectors[count - 1] - *low - least + 1;
    if (range <= kMostCounted) {
        std::vector<std::int32_t> counts(static_cast<std::size_t>(range));
        for (std::int64_t from = 0; from < some_count; ++from)
            for (std::int64_t to = 0; to < count; ++to) ++counts[sectors[to] - some[from] - least];
        for (std::int64_t at = 0; at < range; ++at)
            if (counts[at] != 0) take(least + at, counts[at]);
        return;
    }
    std::vector<std::int64_t> distances;
    distances.reserve(static_cast<std::size_t>(count * some_count));
    for (std::int64_t from = 0; from < some_count; ++from)
        for (std::int64_t to = 0; to < count; ++to) distances.push_back(sectors[to] - some[from]);
    std::sort(distances.begin(), distances.end());
    for (auto begin = distances.begin(); begin != distances.end();) {
        const auto end = std::upper_bound(begin, distances.end(), *begin);
        take(*begin, end - begin);
        begin = end;
    }
}

class LagCandidates {
public:
    LagCandidates(const double* steps, const std::int64_t* extents, const std::int64_t* reach)
        : steps_(steps), extents_(extents), reach_(reach), strides_{1, extents[0], extents[0] * extents[1]} {
        for (int axis = 2; axis >= 0; --axis)
            if (extents[axis] > 1 && steps[axis] != 0) moving_.push_back(axis);
    }

    // Notes the lags of a distance: whole steps along each axis, slowest first, one more or less along all
    // but the last.
    void add_distance(double left, std::int64_t times, Lag lag = {}, std::size_t place = 0) {
        if (place == moving_.size()) {
            if (std::abs(left) < 1) add(lag, times);
            return;
        }
        const int axis = moving_[place];
        const double steps = std::nearbyint(left / steps_[axis]);
        const std::int64_t sides = place + 1 == moving_.size() ? 0 : 1;
        if (std::abs(steps) > static_cast<double>(reach_[axis] + sides)) return;
        for (std::int64_t side = -sides; side <= sides; ++side) {
            lag[axis] = static_cast<std::int64_t>(steps) + side;
            if (std::abs(lag[axis]) < reach_[axis])
                add_distance(left - static_cast<double>(lag[axis]) * steps_[axis], times, lag, place + 1);
        }
    }

    // Notes the next block along axes that move by nothing or by parts of a sector.
    void add_neighbours() {
        for (int axis = 0; axis < 3; ++axis) {
            const bool by_sectors = steps_[axis] != 0 && std::fmod(steps_[axis], 1.0) == 0;
            Lag next{};
            next[axis] = 1;
            if (extents_[axis] > 1 && !by_sectors) add(next, 1);
        }
    }

    // The most frequent of each kind, soonest first.
    std::vector<Lag> most_frequent(std::int64_t most) {
        add_up();
        std::stable_sort(found_.begin(), found_.end(), [this](const Candidate& one, const Candidate& other) {
            return std::tuple(-one.times, far(one.lag)) < std::tuple(-other.times, far(other.lag));
        });
        std::vector<Lag> kept;
        for (int axis = 0; axis < 3; ++axis) {
            std::int64_t left = most;
            for (const Candidate& one : found_)
                if (slowest(one.lag) == axis && left-- > 0) kept.push_back(one.lag);
        }
        std::stable_sort(kept.begin(), kept.end(),
                         [this](const Lag& one, const Lag& other) { return blocks(one) < blocks(other); });
        return kept;
    }

private:
    void add(const Lag& lag, std::int64_t times) {
        if (blocks(lag) > 0) found_.push_back({lag, times});
    }

    // Makes one of those with the same lag, in order of the slowest axis.
    void add_up() {
        std::sort(found_.begin(), found_.end(), [](const Candidate& one, const Candidate& other) {
            return std::tuple(one.lag[2], one.lag[1], one.lag[0]) <
                   std::tuple(other.lag[2], other.lag[1], other.lag[0]);
        });
        std::vector<Candidate> sums;
        for (const Candidate& one : found_) {
            if (sums.empty() || sums.back().lag != one.lag)
                sums.push_back(one);
            else
                sums.back().times += one.times;
        }
        found_ = std::move(sums);
    }

    std::int64_t blocks(const Lag& lag) const {
        return lag[0] * strides_[0] + lag[1] * strides_[1] + lag[2] * strides_[2];
    }

    std::int64_t far(const Lag& lag) const {
        return blocks({std::abs(lag[0]), std::abs(lag[1]), std::abs(lag[2])});
    }

    static int slowest(const Lag& lag) { return lag[2] != 0 ? 2 : lag[1] != 0 ? 1 : 0; }

    const double* steps_;
    const std::int64_t* extents_;
    const std::int64_t* reach_;
    Lag strides_;
    std::vector<int> moving_;
    std::vector<Candidate> found_;
};

}  // namespace

std::int64_t lag_candidates(const std::int64_t* sectors, std::int64_t count, const std::int64_t* some,
                            std::int64_t some_count, const double* steps, const std::int64_t* extents,
                            const std::int64_t* reach, std::int64_t most, std::int64_t* lags) {
    LagCandidates candidates(steps, extents, reach);
    candidates.add_neighbours();
    count_distances(sectors, count, some, some_count, [&](std::int64_t distance, std::int64_t times) {
        candidates.add_distance(static_cast<double>(distance), times);
    });
    const auto kept = candidates.most_frequent(most);
    for (const Lag& lag : kept) lags = std::copy(lag.begin(), lag.end(), lags);
    return static_cast<std::int64_t>(kept.size());
}
