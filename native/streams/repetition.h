// Repetition in what a warp executes: loops, found without looking at the program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpwatt::streams {

using Codes = std::span<const std::int64_t>;  // what each step of a warp executes

struct Run {
    std::int64_t first_step, period, repetitions;

    std::int64_t steps() const { return period * repetitions; }
};

inline constexpr std::int64_t kFewestRepetitions = 4;  // of a run

// How often the `period` steps from `step` on repeat.
std::int64_t count_repetitions(Codes codes, std::int64_t step, std::int64_t period);

// For each step the next one with the same code, -1 if there is none. `seen` has one entry per code.
std::vector<std::int64_t> next_visits(Codes codes, std::span<std::int64_t> seen);

// Whether the longest or the shortest period is taken where several repeat: outer loops or inner ones.
enum class Prefer { kMostSteps, kShortestPeriod };

// The runs of one warp; they do not overlap.
std::vector<Run> find_runs(Codes codes, std::span<const std::int64_t> following, Prefer prefer);

}  // namespace warpwatt::streams
