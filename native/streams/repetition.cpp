#include "streams/repetition.h"

#include <algorithm>
#include <optional>

#include "c_api.h"

namespace warpwatt::streams {
namespace {

constexpr int kCandidates =
    24;  // periods tried from one step: distances to the next so many visits of its code

std::optional<Run> find_run_at(std::int64_t step, Codes codes, std::span<const std::int64_t> following,
                               Prefer prefer) {
    std::optional<Run> best;
    std::int64_t other = following[step];
    for (int candidate = 0; candidate < kCandidates && other >= 0; ++candidate, other = following[other]) {
        const std::int64_t period = other - step;
        if (step + kFewestRepetitions * period > std::ssize(codes)) break;
        const Run run{step, period, count_repetitions(codes, step, period)};
        if (run.repetitions < kFewestRepetitions || (best && run.steps() <= best->steps())) continue;
        best = run;
        if (prefer == Prefer::kShortestPeriod) break;
    }
    return best;
}

}  // namespace

std::int64_t count_repetitions(Codes codes, std::int64_t step, std::int64_t period) {
    std::int64_t at = step + period;
    while (at < std::ssize(codes) && codes[at] == codes[at - period]) ++at;
    return (at - step) / period;
}

std::vector<std::int64_t> next_visits(Codes codes, std::span<std::int64_t> seen) {
    for (const std::int64_t code : codes) seen[code] = -1;
    std::vector<std::int64_t> following(codes.size());
    for (std::int64_t step = std::ssize(codes) - 1; step >= 0; --step) {
        following[step] = seen[codes[step]];
        seen[codes[step]] = step;
    }
    return following;
}

std::vector<Run> find_runs(Codes codes, std::span<const std::int64_t> following, Prefer prefer) {
    std::vector<Run> runs;
    for (std::int64_t step = 0; step < std::ssize(codes);) {
        const std::optional<Run> run = find_run_at(step, codes, following, prefer);
        if (run) runs.push_back(*run);
        step += run ? run->steps() : 1;
    }
    return runs;
}

}  // namespace warpwatt::streams

// The runs of all warps, into `runs`, which has room for one per kFewestRepetitions steps; returns how many.
// `starts`: the first step of each warp and the end of the last; `largest`: of the codes.
WARPWATT_API std::int64_t find_runs(std::int64_t warps, const std::int64_t* starts, const std::int64_t* codes,
                                    std::int64_t largest, std::int64_t longest,
                                    warpwatt::streams::Run* runs) {
    using namespace warpwatt::streams;
    std::vector<std::int64_t> seen(largest + 1);
    std::int64_t count = 0;
    for (std::int64_t warp = 0; warp < warps; ++warp) {
        const Codes of_warp(codes + starts[warp], codes + starts[warp + 1]);
        const Prefer prefer = longest ? Prefer::kMostSteps : Prefer::kShortestPeriod;
        for (Run run : find_runs(of_warp, next_visits(of_warp, seen), prefer)) {
            run.first_step += starts[warp];
            runs[count++] = run;
        }
    }
    return count;
}
