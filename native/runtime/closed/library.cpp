// A closed library's functions, each sent to the device as it is called. Which library: LIBRARY_FUNCTIONS.
// On the machines that CUDA runs on, 64-bit words hold all integers and pointers, in registers or on the
// stack, and floating-point numbers have registers of their own.
#include "runtime/closed/call.h"

using W = std::uint64_t;

#define WORDS_1 W w1
#define WORDS_2 WORDS_1, W w2
#define WORDS_3 WORDS_2, W w3
#define WORDS_4 WORDS_3, W w4
#define WORDS_5 WORDS_4, W w5
#define WORDS_6 WORDS_5, W w6
#define WORDS_7 WORDS_6, W w7
#define WORDS_8 WORDS_7, W w8
#define WORDS_9 WORDS_8, W w9
#define WORDS_10 WORDS_9, W w10
#define WORDS_11 WORDS_10, W w11
#define WORDS_12 WORDS_11, W w12
#define WORDS_13 WORDS_12, W w13
#define WORDS_14 WORDS_13, W w14
#define WORDS_15 WORDS_14, W w15
#define WORDS_16 WORDS_15, W w16
#define WORDS_17 WORDS_16, W w17
#define WORDS_18 WORDS_17, W w18
#define WORDS_19 WORDS_18, W w19
#define WORDS_20 WORDS_19, W w20
#define WORDS_21 WORDS_20, W w21
#define WORDS_22 WORDS_21, W w22
#define WORDS_23 WORDS_22, W w23
#define WORDS_24 WORDS_23, W w24

#define NAMES_1 w1
#define NAMES_2 NAMES_1, w2
#define NAMES_3 NAMES_2, w3
#define NAMES_4 NAMES_3, w4
#define NAMES_5 NAMES_4, w5
#define NAMES_6 NAMES_5, w6
#define NAMES_7 NAMES_6, w7
#define NAMES_8 NAMES_7, w8
#define NAMES_9 NAMES_8, w9
#define NAMES_10 NAMES_9, w10
#define NAMES_11 NAMES_10, w11
#define NAMES_12 NAMES_11, w12
#define NAMES_13 NAMES_12, w13
#define NAMES_14 NAMES_13, w14
#define NAMES_15 NAMES_14, w15
#define NAMES_16 NAMES_15, w16
#define NAMES_17 NAMES_16, w17
#define NAMES_18 NAMES_17, w18
#define NAMES_19 NAMES_18, w19
#define NAMES_20 NAMES_19, w20
#define NAMES_21 NAMES_20, w21
#define NAMES_22 NAMES_21, w22
#define NAMES_23 NAMES_22, w23
#define NAMES_24 NAMES_23, w24

#define DEFINE(name, count, way)                                                                            \
    LIBRARY_API std::int64_t name(WORDS_##count, double first, double second) {                             \
        const W words[] = {NAMES_##count};                                                                  \
        return warpwatt_library_call(#name, words, count, way, first, second, __builtin_return_address(0)); \
    }
#define CALL(name, count) DEFINE(name, count, LibraryCallWay::kPlain)
#define CALL_IN_STREAM(name, count) DEFINE(name, count, LibraryCallWay::kInStream)
#define SET(name, count) DEFINE(name, count, LibraryCallWay::kUnanswered)

#include LIBRARY_FUNCTIONS
