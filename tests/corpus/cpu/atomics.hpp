// Atomic functions: plain operations, since one thread runs at a time. Each returns the old value.
#pragma once

namespace cpu {
template <class T> struct same { using type = T; };
template <class T> using value = typename same<T>::type;  // keeps the operand out of template deduction

template <class T, class F> T exchange(T *address, F change) {
    yield();
    T old = *address;
    *address = change(old);
    return old;
}
}  // namespace cpu

#define CPU_ATOMIC(name, ...)                                                                           \
    template <class T> T name(T *p, cpu::value<T> v) {                                                  \
        return cpu::exchange(p, [v](T old) -> T { return __VA_ARGS__; });                               \
    }                                                                                                   \
    template <class T> T name##_block(T *p, cpu::value<T> v) { return name(p, v); }                     \
    template <class T> T name##_system(T *p, cpu::value<T> v) { return name(p, v); }

CPU_ATOMIC(atomicAdd, old + v)
CPU_ATOMIC(atomicSub, old - v)
CPU_ATOMIC(atomicExch, ((void)old, v))
CPU_ATOMIC(atomicMin, v < old ? v : old)
CPU_ATOMIC(atomicMax, v > old ? v : old)
CPU_ATOMIC(atomicAnd, old & v)
CPU_ATOMIC(atomicOr, old | v)
CPU_ATOMIC(atomicXor, old ^ v)
CPU_ATOMIC(atomicInc, old >= v ? T(0) : old + 1)
CPU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef CPU_ATOMIC

template <class T> T atomicCAS(T *p, cpu::value<T> compare, cpu::value<T> v) {
    return cpu::exchange(p, [=](T old) -> T { return old == compare ? v : old; });
}
template <class T> T atomicCAS_block(T *p, cpu::value<T> c, cpu::value<T> v) { return atomicCAS(p, c, v); }
template <class T> T atomicCAS_system(T *p, cpu::value<T> c, cpu::value<T> v) { return atomicCAS(p, c, v); }
