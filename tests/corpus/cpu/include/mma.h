// Stands in for CUDA's header of this name. Every lane holds the whole matrix, so all lanes do all the work.
#pragma once
#include "../halves.hpp"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class T> struct Storage { using type = T; };
template <> struct Storage<precision::tf32> { using type = float; };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
    static constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;
    static constexpr int num_elements = rows * columns;
    typename Storage<T>::type x[num_elements];
};

template <class Fragment, class S> void cpu_load(Fragment &f, const S *from, unsigned stride, bool by_rows, int line) {
    __syncwarp(~0u, line);
    for (int i = 0; i < f.rows; ++i)
        for (int j = 0; j < f.columns; ++j) f.x[i * f.columns + j] = from[by_rows ? i * stride + j : j * stride + i];
    __syncwarp(~0u, line);
}

template <class Use, int M, int N, int K, class T, class Layout, class S>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const S *from, unsigned stride, CPU_LINE) {
    cpu_load(f, from, stride, std::is_same_v<Layout, row_major>, line);
}
template <int M, int N, int K, class T, class S>
void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const S *from, unsigned stride, layout_t layout, CPU_LINE) {
    cpu_load(f, from, stride, layout == mem_row_major, line);
}
template <int M, int N, int K, class T, class S>
void store_matrix_sync(S *to, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout, CPU_LINE) {
    __syncwarp(~0u, line);
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) to[layout == mem_row_major ? i * stride + j : j * stride + i] = f.x[i * N + j];
    __syncwarp(~0u, line);
}
template <class Use, int M, int N, int K, class T, class Layout, class V>
void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, V value) {
    for (auto &element : f.x) element = value;
}

template <int M, int N, int K, class D, class A, class LA, class B, class LB, class C>
void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LA> &a,
              const fragment<matrix_b, M, N, K, B, LB> &b, const fragment<accumulator, M, N, K, C> &c, CPU_LINE) {
    using Sum = std::conditional_t<std::is_same_v<C, int> || std::is_same_v<C, double>, C, float>;
    __syncwarp(~0u, line);
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            Sum sum = Sum(c.x[i * N + j]);
            for (int k = 0; k < K; ++k) sum += Sum(a.x[i * K + k]) * Sum(b.x[k * N + j]);
            d.x[i * N + j] = sum;
        }
}

inline float __float_to_tf32(float x) { return cpu::as<float>((cpu::as<uint32_t>(x) + 0x1000u) & ~0x1fffu); }

}  // namespace nvcuda::wmma
