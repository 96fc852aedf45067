#include "emulate/barrier.h"
#include "tests/emulate/test_frame.h"

using namespace warpwatt::test;

namespace {

void arguments_are_widened_and_results_cut() {
    for_each_width([]<typename T>() {
        TestFrame test;
        test.randomise<T>(integer_edges<T>());
        test.machine.values[5].fill(~std::uint64_t{0});
        test.run("argument " + bits_of<T>(), 5);
        test.run("address " + bits_of<T>());
        for (int lane = 0; lane < kLanes; ++lane) {
            CHECK(test.machine.values[5][lane] == test.value<T>(0)[lane]);
            CHECK(test.machine.addresses[lane] == test.value<T>(0)[lane]);
        }
        test.run("result " + bits_of<T>(), 5);
        CHECK(test.result<T>() == test.value<T>(0));
        test.machine.old_values.fill(0x0102030405060708);
        test.run("old value " + bits_of<T>());
        CHECK(test.result<T>()[31] == static_cast<T>(0x0102030405060708));
    });
}

void masks_are_words_of_zero_and_one() {
    TestFrame test;
    const LaneMask mask = test.mask(0) = test.random_mask();
    test.run("argument 1", 2);
    for (int lane = 0; lane < kLanes; ++lane) CHECK(test.machine.values[2][lane] == has_lane(mask, lane));
    test.machine.values[2][0] ^= 2;  // only the lowest bit counts
    test.run("result 1", 2);
    CHECK(test.mask(kResult) == mask);
}

void what_is_stored_is_loaded_where_a_lane_is_on() {
    for_each_width([]<typename T>() {
        constexpr int bytes = sizeof(T);
        TestFrame test;
        test.randomise<T>(integer_edges<T>());
        const Lanes<T> first = test.value<T>(0);
        test.set_operation(Space::kGlobal, bytes, 2);
        test.run("store element " + bits_of<T>(), 0);
        test.value<T>(0) = test.value<T>(1);
        test.run("store element " + bits_of<T>(), 32 * bytes);
        test.set_addresses(kBuffer, 2 * bytes);
        test.active = 0x7FFFFFFF;
        test.mask(2) = 0xFFFFFFFE;
        test.run("store");
        test.machine.values[0].fill(1);
        test.run("load", 0, kNoMask);
        for (const int element : {0, 1}) {
            const Lanes<T>& stored = element == 0 ? first : test.value<T>(1);
            test.run("loaded " + bits_of<T>(), 32 * bytes * element);
            for (int lane = 0; lane < kLanes; ++lane)
                CHECK(test.result<T>()[lane] == (lane == 0 || lane == 31 ? T{0} : stored[lane]));
        }
        CHECK(test.counted(Space::kGlobal).requests == 2);
    });
}

void one_address_is_loaded_for_all() {
    TestFrame test;
    const std::array<std::uint32_t, 2> words{11, 22};
    std::memcpy(test.buffer.data() + 40, words.data(), 8);
    test.set_operation(Space::kGlobal, 4, 2);
    test.active = 0xF0;
    test.value<std::uint64_t>(0)[4] = kBuffer + 40;
    test.run("uniform load 64", 0, kNoMask);
    test.run("loaded for all 32", 4);
    CHECK(test.result<std::uint32_t>()[0] == 22 && test.result<std::uint32_t>()[31] == 22);
    test.mask(2) = 0x0F;
    test.run("uniform load 64");
    test.run("loaded for all 32", 4);
    CHECK(test.result<std::uint32_t>()[31] == 0 && test.counted(Space::kGlobal).requests == 1);
}

void constants_are_read_at_any_address() {
    TestFrame test;
    std::vector<unsigned char> bank(64, 0);
    bank[17] = 0x34, bank[18] = 0x12;
    test.banks[4] = bank.data();
    test.run("constant 16", std::int64_t{4} << 32 | 17);
    CHECK(test.result<std::uint16_t>()[0] == 0x1234 && test.result<std::uint16_t>()[31] == 0x1234);
}

void atomics_of_lanes_add_up() {
    TestFrame test;
    test.set_operation(Space::kShared, 4);
    test.operation.atomic = AtomicOperation::kAdd;
    test.value<std::uint32_t>(0).fill(3);
    test.run("argument 32", 0);
    test.set_addresses(8, 0);
    test.mask(2) = 0x1F;
    test.run("atomic");
    CHECK(test.read<std::uint32_t>(test.block().shared + 8) == 15);
    test.run("old value 32");
    CHECK(test.result<std::uint32_t>()[0] == 0 && test.result<std::uint32_t>()[4] == 12);
}

std::int64_t called_with[2];

std::int64_t note_call(std::int64_t function, std::int64_t lanes) {
    called_with[0] = function, called_with[1] = lanes;
    return 0;
}

void a_call_names_its_warp_and_lanes() {
    TestFrame test;
    std::int64_t zeros[8] = {};
    test.machine.code.call = note_call;
    test.machine.code.zeros = zeros;
    test.active = 0xFF;
    test.mask(2) = 0xF0F0;
    test.run("call", 6);
    CHECK(called_with[0] == 6 && called_with[1] == 0xF0 && test.machine.caller == &test.warp());
    zeros[5] = 2;
    for (auto& value : test.machine.values) value.fill(1);
    test.run("call", 5);
    CHECK(called_with[0] == 6);  // zeros stand for what it would return
    CHECK(test.machine.values[1][31] == 0 && test.machine.values[2][0] == 1);
}

void results_of_a_barrier_replace_its_number() {
    TestFrame test;
    test.block().barriers[3].result_holding = 20;
    test.machine.values[0].fill(3);
    test.run("barrier results", static_cast<std::int64_t>(BarrierReduction::kCount));
    CHECK(test.machine.values[0][31] == 20);
}

}  // namespace

int main() {
    arguments_are_widened_and_results_cut();
    masks_are_words_of_zero_and_one();
    what_is_stored_is_loaded_where_a_lane_is_on();
    one_address_is_loaded_for_all();
    constants_are_read_at_any_address();
    atomics_of_lanes_add_up();
    a_call_names_its_warp_and_lanes();
    results_of_a_barrier_replace_its_number();
    return warpwatt::test::failures();
}
