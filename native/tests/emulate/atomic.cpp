#include "emulate/atomic.h"

#include <bit>
#include <cmath>

#include "emulate/half.h"
#include "emulate/run_time.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

std::uint64_t result(AtomicOperation how, int bytes, std::uint64_t old, std::uint64_t operand,
                     std::uint64_t second = 0, ElementKind kind = ElementKind::kInteger) {
    MemoryOperation operation{};
    operation.element_bytes = bytes;
    operation.atomic = how;
    operation.element = kind;
    const std::uint64_t made = atomic_result(operation, old, operand, second);
    return bytes == 8 ? made : made & ((std::uint64_t{1} << 8 * bytes) - 1);
}

float on_floats(AtomicOperation how, float old, float operand) {
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(result(how, 4, std::bit_cast<std::uint32_t>(old),
                                          std::bit_cast<std::uint32_t>(operand), 0, ElementKind::kSingle)));
}

void integers_wrap_at_their_width() {
    CHECK(result(AtomicOperation::kAdd, 4, 0xFFFFFFFF, 2) == 1);
    CHECK(result(AtomicOperation::kAdd, 8, ~std::uint64_t{0}, 2) == 1);
    CHECK(result(AtomicOperation::kAnd, 4, 0b1100, 0b1010) == 0b1000);
    CHECK(result(AtomicOperation::kOr, 4, 0b1100, 0b1010) == 0b1110);
    CHECK(result(AtomicOperation::kXor, 4, 0b1100, 0b1010) == 0b0110);
}

void minima_mind_the_sign_of_their_width() {
    CHECK(result(AtomicOperation::kMin, 4, 1, 0xFFFFFFFF) == 0xFFFFFFFF);  // -1
    CHECK(result(AtomicOperation::kMax, 4, 1, 0xFFFFFFFF) == 1);
    CHECK(result(AtomicOperation::kUnsignedMin, 4, 1, 0xFFFFFFFF) == 1);
    CHECK(result(AtomicOperation::kUnsignedMax, 4, 1, 0xFFFFFFFF) == 0xFFFFFFFF);
    CHECK(result(AtomicOperation::kMin, 2, 0x8000, 3) == 0x8000);
    CHECK(result(AtomicOperation::kUnsignedMin, 8, 3, std::uint64_t{1} << 63) == 3);
}

// PTX ISA: inc: old >= operand ? 0 : old + 1; dec: old == 0 or old > operand ? operand : old - 1.
void counters_wrap_at_the_operand() {
    CHECK(result(AtomicOperation::kIncrement, 4, 4, 5) == 5);
    CHECK(result(AtomicOperation::kIncrement, 4, 5, 5) == 0);
    CHECK(result(AtomicOperation::kDecrement, 4, 3, 5) == 2);
    CHECK(result(AtomicOperation::kDecrement, 4, 0, 5) == 5);
    CHECK(result(AtomicOperation::kDecrement, 4, 6, 5) == 5);
}

void exchanges_move_bits() {
    CHECK(result(AtomicOperation::kExchange, 4, 7, 9) == 9);
    CHECK(result(AtomicOperation::kCompareAndSwap, 4, 7, 7, 9) == 9);
    CHECK(result(AtomicOperation::kCompareAndSwap, 4, 7, 8, 9) == 7);
}

void floats_ignore_one_nan_and_order_zeros() {
    CHECK(on_floats(AtomicOperation::kAdd, 0.1F, 0.2F) == 0.1F + 0.2F);
    CHECK(on_floats(AtomicOperation::kMin, 2.0F, NAN) == 2.0F);
    CHECK(on_floats(AtomicOperation::kMax, NAN, 2.0F) == 2.0F);
    CHECK(on_floats(AtomicOperation::kMax, 2.0F, NAN) == 2.0F);
    CHECK(on_floats(AtomicOperation::kMin, 2.0F, -3.0F) == -3.0F);
    CHECK(on_floats(AtomicOperation::kMax, 2.0F, -3.0F) == 2.0F);
    CHECK(std::signbit(on_floats(AtomicOperation::kMin, 0.0F, -0.0F)));
    CHECK(std::signbit(on_floats(AtomicOperation::kMin, -0.0F, 0.0F)));
    CHECK(!std::signbit(on_floats(AtomicOperation::kMax, -0.0F, 0.0F)));
}

void halves_round_to_nearest_even() {
    for (int bits = 0; bits < 0x7C00; ++bits)
        CHECK(to_half(from_half(static_cast<std::uint16_t>(bits))) == bits);
    CHECK(to_half(1.0 + 0x1p-11) == 0x3C00);  // half way: to even
    CHECK(to_half(1.0 + 3 * 0x1p-11) == 0x3C02);
    CHECK(to_half(65519.0) == 0x7BFF && to_half(65520.0) == 0x7C00);
    CHECK(to_half(-0x1p-24) == 0x8001 && to_half(0x1p-26) == 0);
    CHECK(std::isinf(from_half(0xFC00)) && from_half(0xFC00) < 0 && std::isnan(from_half(0x7C01)));
    CHECK(result(AtomicOperation::kAdd, 2, 0x3C00, 0x4000, 0, ElementKind::kHalf) == 0x4200);
}

void lanes_with_one_address_go_one_after_the_other() {
    TestMachine test;
    test.set_operation(Space::kGlobal, 4);
    test.operation.atomic = AtomicOperation::kAdd;
    test.set_addresses(kBuffer, 0);
    test.machine.values[0].fill(3);
    atomic_lanes(&test.machine, &test.warp(), 0, 0xFF);
    CHECK(test.read<std::uint32_t>(test.buffer.data()) == 24);
    for (int lane = 0; lane < 8; ++lane) CHECK(test.machine.old_values[lane] == 3U * lane);
    CHECK(test.machine.old_values[8] == 0);
    CHECK(test.counted(Space::kGlobal).collisions == 8);
}

}  // namespace

int main() {
    integers_wrap_at_their_width();
    minima_mind_the_sign_of_their_width();
    counters_wrap_at_the_operand();
    exchanges_move_bits();
    floats_ignore_one_nan_and_order_zeros();
    halves_round_to_nearest_even();
    lanes_with_one_address_go_one_after_the_other();
    return warpwatt::test::failures();
}
