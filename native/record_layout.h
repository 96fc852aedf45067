// Where the fields of records lie, and what codes in them are, for Python and for generated code: they go by
// name, C++ says where and how wide. A room exports tables of both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace warpwatt {

// `kind` is that of a NumPy type: signed, unsigned (pointers too), floating or void (a record of its own).
struct Field {
    const char* record;
    const char* name;  // empty: the record itself
    char kind;
    std::int64_t offset, element_bytes, bytes;
};

// A number that Python writes into records or reads from them.
struct NamedCode {
    const char* table;
    const char* name;
    std::int64_t value;
};

template <typename T>
struct ElementOf {
    using Type = T;
};
template <typename T, std::size_t n>
struct ElementOf<std::array<T, n>> : ElementOf<T> {};

template <typename T>
constexpr char kind_of() {
    if constexpr (std::is_enum_v<T>)
        return kind_of<std::underlying_type_t<T>>();
    else if constexpr (std::is_pointer_v<T> || std::is_unsigned_v<T>)
        return 'u';
    else if constexpr (std::is_floating_point_v<T>)
        return 'f';
    else
        return std::is_integral_v<T> ? 'i' : 'V';
}

template <typename T>
constexpr Field field(const char* record, const char* name, std::int64_t offset) {
    using Element = typename ElementOf<T>::Type;
    return {record, name, kind_of<Element>(), offset, sizeof(Element), sizeof(T)};
}

template <typename T>
constexpr NamedCode code(const char* table, const char* name, T value) {
    return {table, name, static_cast<std::int64_t>(value)};
}

}  // namespace warpwatt

#define RECORD(record) warpwatt::field<record>(#record, "", 0)
#define FIELD(record, member)                                                                        \
    warpwatt::field<std::remove_cvref_t<decltype(std::declval<record&>().member)>>(#record, #member, \
                                                                                   offsetof(record, member))
