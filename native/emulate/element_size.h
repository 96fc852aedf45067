// Elements of memory have 1, 2, 4 or 8 bytes; loops over them want the number as a constant.
#pragma once

#include <cstdint>

namespace warpwatt::emulate {

// Calls `visit.template operator()<bytes>()`.
template <typename Visit>
void with_element_size(std::int32_t bytes, Visit visit) {
    switch (bytes) {
        case 1:
            return visit.template operator()<1>();
        case 2:
            return visit.template operator()<2>();
        case 4:
            return visit.template operator()<4>();
        default:
            return visit.template operator()<8>();
    }
}

}  // namespace warpwatt::emulate
