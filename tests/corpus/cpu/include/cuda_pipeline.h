// Stands in for CUDA's header of this name: asynchronous copies are done at once.
#pragma once

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
    if (bytes != 4 && bytes != 8 && bytes != 16) cpu::fail("__pipeline_memcpy_async copies 4, 8 or 16 bytes");
    if (uintptr_t(to) % bytes || uintptr_t(from) % bytes) cpu::fail("__pipeline_memcpy_async: misaligned");
    memcpy(to, from, bytes - zeros);
    memset(static_cast<char *>(to) + bytes - zeros, 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
