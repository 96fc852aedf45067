#include "sm/dram.h"

#include <cmath>

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

constexpr double kLatency = 500.0;

void alone_it_takes_its_latency() {
    const Settings s = test::settings();
    Dram dram(s);
    CHECK_NEAR(dram.read(10.0, 128.0, kLatency), 510.0, 0.0);
    CHECK_NEAR(dram.free(), 26.0, 0.0);  // 128 bytes at 8 per cycle
    CHECK_NEAR(dram.bytes(), 128.0, 0.0);
}

// A fluid limit: requests that come together leave at the rate.
void together_they_take_the_time_of_their_bytes() {
    const Settings s = test::settings();
    Dram dram(s);
    double last = 0.0;
    for (int i = 0; i < 1000; ++i) last = dram.read(0.0, 128.0, kLatency);
    CHECK_NEAR(last, 999 * 16.0 + kLatency, 1e-6);
}

void a_burst_passes_at_once_when_sms_have_fallen_out_of_step() {
    Settings s = test::settings();
    s.burst_cycles = 40.0;
    s.burst_after_cycles = 1000.0;
    Dram late(s), early(s), begun(s);
    CHECK_NEAR(late.read(2000.0, 320.0, kLatency), 2500.0, 0.0);
    CHECK_NEAR(late.read(2000.0, 320.0, kLatency), 2500.0, 0.0);  // 40 cycles behind: still within the burst
    CHECK_NEAR(late.read(2000.0, 320.0, kLatency), 2540.0, 0.0);
    begun.read(500.0, 320.0, kLatency);
    CHECK_NEAR(begun.read(500.0, 320.0, kLatency), 1020.0, 0.0);  // half of the burst, half of the way there
    early.read(0.0, 320.0, kLatency);
    CHECK_NEAR(early.read(0.0, 320.0, kLatency), 540.0, 0.0);
}

// At a steady load ρ = service / interval the recent load goes to ρ (geometric sum of its decay).
void latency_grows_with_the_load_of_the_recent_past() {
    Settings s = test::settings();
    s.load_linear_cycles = 100.0;
    s.load_queue_cycles = 10.0;
    s.load_window_cycles = 10'000.0;
    Dram dram(s);
    double waited = 0.0;
    for (int i = 0; i < 10'000; ++i) waited = dram.read(32.0 * i, 128.0, kLatency) - 32.0 * i;  // ρ = 1/2
    CHECK_NEAR(waited, kLatency + 100.0 * 0.5 + 10.0 * 1.0, 0.5);
}

void a_load_long_ago_is_forgotten() {
    Settings s = test::settings();
    s.load_linear_cycles = 100.0;
    Dram dram(s);
    dram.read(0.0, 400.0, kLatency);  // half a window of 100 cycles
    const double load = 0.5 * std::exp(-2.0) + 0.01;
    CHECK_NEAR(dram.read(200.0, 8.0, kLatency), 700.0 + 100.0 * load, 1e-9);
}

void requests_at_one_time_add_up_to_the_load() {
    Settings s = test::settings();
    s.load_linear_cycles = 100.0;
    s.burst_cycles = 1000.0;
    s.burst_after_cycles = 1.0;
    Dram dram(s);
    dram.read(10.0, 80.0, kLatency);  // a tenth of a window each, within the burst
    CHECK_NEAR(dram.read(10.0, 80.0, kLatency), 510.0 + 100.0 * 0.2, 1e-9);
}

// q·ρ/(1-ρ) has no bound: it is taken at 0.95 at the most.
void queueing_is_cut_off_at_the_highest_load() {
    Settings s = test::settings();
    s.load_linear_cycles = 100.0;
    s.load_queue_cycles = 10.0;
    Dram dram(s);
    const double found = dram.read(0.0, 8000.0, kLatency);  // ten windows at once
    CHECK_NEAR(found, kLatency + 100.0 * 0.95 + 10.0 * 19.0, 1e-9);
}

}  // namespace

int main() {
    alone_it_takes_its_latency();
    together_they_take_the_time_of_their_bytes();
    a_burst_passes_at_once_when_sms_have_fallen_out_of_step();
    latency_grows_with_the_load_of_the_recent_past();
    a_load_long_ago_is_forgotten();
    requests_at_one_time_add_up_to_the_load();
    queueing_is_cut_off_at_the_highest_load();
    return warpwatt::test::failures();
}
