"""Times and powers are the simulated device's; bad runs are rejected, wrong results not timed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpwatt.core.arguments import Scalar
from warpwatt.core.errors import InputError
from warpwatt.core.program import Parameter
from warpwatt.lab.measure import timing
from warpwatt.lab.measure.device import DeviceInfo
from warpwatt.lab.measure.instance import place_on_device, scalar_bytes
from warpwatt.lab.measure.points import PowerPoint, TimePoint
from warpwatt.lab.measure.protocol import Mode, Settings, measure_time
from warpwatt.lab.measure.simulated import INFO, Behaviour, default_seconds
from warpwatt.lab.measure.simulated_power import SensorBehaviour, SensorFault
from warpwatt.lab.measure.supply import Order, make_job, zeroable


def rows_of(point, bench, files):
    job = make_job(point.order)
    return [row for group in point.measure(bench, files, job) for row in group.rows]


def true_seconds(program, size, launch=0):
    one = program.size(size).launches[launch]
    return default_seconds(one.kernel, one.launch)


def test_times_are_the_true_ones(make_bench, corpus, files):
    program = corpus.program("two")
    rows = rows_of(TimePoint(program, "large"), make_bench(), files)
    assert [(r["protocol"], r["launch"], r["kernel"], r["executions"]) for r in rows] == [
        (mode, index, kernel, count)
        for mode in ("time_cold", "time_warm")
        for index, kernel, count in ((0, "first", 1), (1, "second", 3))
    ]
    for row in rows:
        true = true_seconds(program, "large", row["launch"]) * (1.1 if row["protocol"] == "time_cold" else 1)
        assert row["time_s"] == pytest.approx(true + 1e-6, rel=0.01)  # the gap between launches is in it
        assert row["minimum_s"] <= row["lower_quartile_s"] <= row["time_s"] <= row["upper_quartile_s"]
        assert row["repeats"] == 32
        assert row["status"] == "ok"
        assert row["spread"] < 0.01
        assert (row["sm_clock_before_hz"], row["temperature_after_c"]) == (1.98e9, 45.0)


def test_short_launches_are_timed_in_batches_where_they_may_follow_themselves(make_bench, corpus, files):
    row = rows_of(TimePoint(corpus.program("set"), "small"), make_bench(), files)[-1]
    assert (row["restored"], row["batch_launches"]) == (0, timing.BATCH)
    assert row["batch_s"] == pytest.approx(row["time_s"], rel=0.02)
    for name in ("add", "two"):  # one changes what it reads, the other has two launches
        row = rows_of(TimePoint(corpus.program(name), "small"), make_bench(), files)[-1]
        assert row["batch_s"] is None


def test_buffers_are_put_back_before_every_run(make_bench, corpus):
    job = make_job(Order(corpus.program("add"), "tiny", "random"))
    bench = make_bench()
    with place_on_device(bench.device, job, bench.codes.code(job.program)) as instance:
        bench.on_placed(instance)
        assert not instance.mismatches()
        assert instance.restores
        seen = []
        run = instance.launches[0].run

        def spy() -> None:
            seen.append((instance.results(["y"])["y"] == 1).all())
            run()

        instance.launches = (replace(instance.launches[0], run=spy),)
        timing.time_warm(bench.watch, instance)
        timing.time_cold(bench.watch, instance)
    assert seen == [True] * 3
    assert bench.device.memory.keys() == {*()}


def test_wrong_result_is_not_timed(make_bench, corpus, files):
    bench = make_bench(Behaviour(wrong=frozenset({"add"})))
    rows = rows_of(TimePoint(corpus.program("add"), "small"), bench, files)
    assert [row["status"] for row in rows] == ["wrong", "wrong"]
    assert all("time_s" not in row for row in rows)
    assert "y: " in rows[0]["note"]
    assert bench.device.log.count("add") == 1


def test_untouched_inputs_are_checked(make_bench, corpus):
    job = make_job(Order(corpus.program("set"), "tiny", "random"))
    bench = make_bench()
    with place_on_device(bench.device, job, bench.codes.code(job.program)) as instance:
        stray = {"x": np.zeros_like(job.inputs["x"]), "y": job.wanted["y"]}
        bench.device.set_results({instance.addresses[name]: array for name, array in stray.items()})
        assert [mismatch.buffer for mismatch in instance.mismatches()] == ["x"]


@pytest.mark.parametrize(("reads", "status", "attempts"), [(1, "ok", 2), (5, "ok", 4), (99, "throttled", 4)])
def test_throttled_run_is_repeated_then_kept(make_bench, corpus, reads, status, attempts):
    bench = make_bench(Behaviour(throttled_reads=reads), warm_up_limit=0.0)
    job = make_job(Order(corpus.program("set"), "small", "random"))
    with place_on_device(bench.device, job, bench.codes.code(job.program)) as instance:
        bench.on_placed(instance)
        assert not instance.mismatches()
        bench.device.sensors.reads = 0
        run, made = measure_time(bench.watch, instance, Mode.WARM, bench.settings)
    assert (run.status, made) == (status, attempts)
    assert run.conditions.throttle == (("hw_slowdown",) if status == "throttled" else ())


def test_unsteady_run_is_repeated(make_bench, corpus, files):
    # 3 launches before timing, 33 in a run with its warm-up: the first run of the first protocol scatters
    bench = make_bench(Behaviour(unsteady_launches=40))
    rows = rows_of(TimePoint(corpus.program("set"), "large"), bench, files)
    assert [(row["status"], row["attempts"]) for row in rows] == [("ok", 2), ("ok", 1)]
    always = make_bench(Behaviour(noise=0.3))
    rows = rows_of(TimePoint(corpus.program("set"), "large"), always, files)
    assert {(row["status"], row["attempts"]) for row in rows} == {("unsteady", 4)}
    assert all(row["time_s"] > 0 for row in rows)


def test_power_of_a_loop(make_bench, corpus, files):
    behaviour = Behaviour()
    for name in ("set", "add"):
        (row,) = rows_of(PowerPoint(corpus.program(name), "large", "random"), make_bench(behaviour), files)
        assert row["status"] == "ok"
        assert row["counter_w"] == pytest.approx(behaviour.watts, rel=5e-3)
        assert row["sampled_w"] == pytest.approx(behaviour.watts, rel=5e-3)
        assert abs(row["disagreement"]) < 0.01
        assert row["energy_j"] == pytest.approx(row["power_w"] * row["run_s"])
        assert row["window_s"] > 1.8
        assert row["runs"] * row["run_s"] == pytest.approx(row["window_s"])
        assert (row["lag_s"], row["corrected_w"]) == (None, None)
        # putting buffers back is part of the loop
        assert row["busy"] == pytest.approx(1, abs=0.02) if name == "set" else 0.5 < row["busy"] < 0.85


def test_zeros_draw_less(make_bench, corpus, files):
    program = corpus.program("set")
    rows = [
        rows_of(PowerPoint(program, "large", data), make_bench(), files)[0] for data in ("random", "zeros")
    ]
    assert [row["data"] for row in rows] == ["random", "zeros"]
    assert rows[1]["power_w"] < 0.75 * rows[0]["power_w"]


def test_only_random_floats_become_zeros(corpus):
    assert zeroable(corpus.program("add"), "tiny") == ("x",)
    job = make_job(Order(corpus.program("add"), "tiny", "zeros"))
    assert not job.inputs["x"].any()
    assert (job.inputs["y"] == 1).all()
    assert (job.wanted["y"] == 1).all()


def test_lag_is_found_and_corrected(make_bench, corpus, files):
    sensors = SensorBehaviour(lag=0.84)
    (row,) = rows_of(
        PowerPoint(corpus.program("set"), "large", "random"), make_bench(Behaviour(sensors=sensors)), files
    )
    assert row["lag_s"] == pytest.approx(0.84, rel=0.1)
    assert row["corrected_w"] == pytest.approx(431.7, rel=0.01)
    assert row["counter_w"] == pytest.approx(431.7, rel=0.01)
    assert row["sampled_w"] < 0.99 * row["counter_w"]


FAULTS = {
    SensorFault.NAN: "power sensor broken",
    SensorFault.STUCK: "power sensor stuck",
    SensorFault.NEGATIVE: "power sensor broken",
    SensorFault.MISSING: "no power sensor",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_power_sensor_leaves_the_counter(make_bench, corpus, files, fault):
    bench = make_bench(Behaviour(sensors=SensorBehaviour(power_fault=fault)))
    (row,) = rows_of(PowerPoint(corpus.program("set"), "large", "random"), bench, files)
    assert (row["status"], row["sampled_w"], row["disagreement"]) == ("ok", None, None)
    assert row["power_w"] == row["counter_w"] == pytest.approx(431.7, rel=5e-3)
    assert FAULTS[fault] in row["note"]


def test_broken_counter_leaves_the_samples(make_bench, corpus, files):
    for fault, problem in ((SensorFault.STUCK, "counter stuck"), (SensorFault.MISSING, "no energy counter")):
        bench = make_bench(Behaviour(sensors=SensorBehaviour(counter_fault=fault)))
        (row,) = rows_of(PowerPoint(corpus.program("set"), "large", "random"), bench, files)
        assert (row["status"], row["counter_w"]) == ("ok", None)
        assert row["power_w"] == row["sampled_w"] == pytest.approx(431.7, rel=5e-3)
        assert problem in row["note"]


def test_both_broken_is_a_status_of_its_own(make_bench, corpus, files):
    sensors = SensorBehaviour(power_fault=SensorFault.NAN, counter_fault=SensorFault.STUCK)
    (row,) = rows_of(
        PowerPoint(corpus.program("set"), "large", "random"), make_bench(Behaviour(sensors=sensors)), files
    )
    assert (row["status"], row["power_w"], row["energy_j"]) == ("sensor", None, None)


def test_counter_that_wraps_during_a_run(make_bench, corpus, files):
    # the window begins about 12 s after the start at up to 432 W
    sensors = SensorBehaviour(counter_bits=32, counter_start_mj=2**32 - 1_700_000)
    bench = make_bench(Behaviour(sensors=sensors))
    before = bench.device.sensors.sample().energy_mj
    (row,) = rows_of(PowerPoint(corpus.program("set"), "large", "random"), bench, files)
    assert bench.device.sensors.sample().energy_mj < before
    assert row["counter_w"] == pytest.approx(431.7, rel=5e-3)


def test_power_cap_is_kept_at_once_other_throttling_repeated(make_bench, corpus, files):
    for reason, status, attempts in (("sw_power_cap", "capped", 1), ("hw_thermal_slowdown", "throttled", 4)):
        bench = make_bench(Behaviour(throttled_reads=10**6, throttle=(reason,)))
        (row,) = rows_of(PowerPoint(corpus.program("set"), "small", "random"), bench, files)
        assert (row["status"], row["attempts"], row["throttle"]) == (status, attempts, reason)


def test_benign_reasons_are_no_throttling(make_bench, corpus, files):
    bench = make_bench(Behaviour(throttled_reads=10**6, throttle=("gpu_idle", "applications_clocks_setting")))
    rows = rows_of(TimePoint(corpus.program("set"), "small"), bench, files)
    assert {(row["status"], row["throttle"]) for row in rows} == {("ok", "")}


def test_floor_is_that_of_the_empty_kernel(make_bench):
    bench = make_bench()
    assert bench.events_s == 0
    assert bench.empty_kernel_s == pytest.approx(3e-6 + 1e-6, rel=0.02)


def test_what_does_not_fit_is_refused(make_bench, corpus, files):
    bench = make_bench(Behaviour(info=replace(INFO, memory_bytes=400_000)))
    with pytest.raises(InputError, match="GiB"):
        rows_of(TimePoint(corpus.program("set"), "large"), bench, files)


@pytest.mark.parametrize(
    ("kind", "size", "value", "expected"),
    [
        ("u32", 4, 7, "07000000"),
        ("s32", 4, -2, "feffffff"),
        ("u64", 8, 2**40, "0000000000010000"),
        ("f32", 4, 1.0, "0000803f"),
        ("f32", 4, 1, "0000803f"),
        ("f64", 8, 0.5, "000000000000e03f"),
        ("u8", 1, 1, "01"),
        ("u32", 4, 3.0, "03000000"),
    ],
)
def test_scalars_as_bytes(kind, size, value, expected):
    assert scalar_bytes(Parameter("p", kind, size, size), Scalar(value)).hex() == expected


@pytest.mark.parametrize(("kind", "size", "value"), [("u32", 4, 2**32), ("u32", 4, 1.5), ("b8", 12, 1)])
def test_scalars_that_do_not_fit(kind, size, value):
    with pytest.raises(InputError, match="cannot pass"):
        scalar_bytes(Parameter("p", kind, size, size), Scalar(value))


def test_repeats_are_at_least_what_the_protocol_says():
    assert Settings().repeats >= 32
    assert Settings().power_seconds >= 2


def test_folder_of_a_device():
    assert DeviceInfo("NVIDIA GeForce RTX 4090", "", "", "sm_89", 128, 0, 0).slug == "rtx-4090"
    assert DeviceInfo("NVIDIA H200", "", "", "sm_90", 132, 0, 0).slug == "h200"
