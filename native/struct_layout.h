// Where the fields of structs lie, and what enumerators are: Python names them, C++ says where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpwatt {

struct FieldLayout {
    const char* name;     // "Struct.field"; "Struct" for a struct as a whole; "Enum.enumerator"
    const char* type;     // NumPy's code of the type; empty for the other two
    std::int64_t offset;  // in bytes; of a struct its size, of an enumerator its value
};

// NumPy's code of a scalar type; pointers are unsigned numbers.
template <class T>
constexpr const char* type_code() {
    if constexpr (std::is_pointer_v<T>) return "u8";
    if constexpr (std::is_same_v<T, double>) return "f8";
    if constexpr (sizeof(T) == 1) return "i1";
    if constexpr (sizeof(T) == 4) return "i4";
    if constexpr (sizeof(T) == 8) return "i8";
}

}  // namespace warpwatt

#define WARPWATT_STRUCT(Struct) {#Struct, "", sizeof(Struct)}
#define WARPWATT_FIELD(Struct, field) \
    {#Struct "." #field, warpwatt::type_code<decltype(Struct{}.field)>(), offsetof(Struct, field)}
#define WARPWATT_ENUMERATOR(Enum, name) {#Enum "." #name, "", static_cast<std::int64_t>(Enum::name)}
