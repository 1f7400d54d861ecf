// Checks Arrow arrays against the fields of their stream.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/types.h"

namespace cfile::internal {

// Checks lengths, offsets, numbers of buffers and children, null pointers and run ends; of the
// offsets of strings, only the first and the last. Does not check values, indexes, or the offsets
// of lists and views. kInvalidArgument: `array`, which may be null, or an array below it is
// malformed. The error names the field.
absl::Status CheckArray(const ImportField& field, const ArrowArray* array);

// Returns kInvalidArgument with the path of the field.
absl::Status MalformedArray(const ImportField& field, std::string_view what);

// Reads a number. The buffers of Arrow need not be aligned.
template <typename T>
T LoadAt(const void* buffer, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}
inline bool BitAt(const uint8_t* bits, int64_t index) {
  return (bits[index / 8] >> (index % 8) & 1) != 0;
}

// Returns the validity bitmap of an array, or null if the array has no nulls.
inline const uint8_t* ValidityOf(const ImportField& field, const ArrowArray& array) {
  if (field.kind == ArrowKind::kNull || field.kind == ArrowKind::kRunEnds) return nullptr;
  return array.null_count == 0 ? nullptr : static_cast<const uint8_t*>(array.buffers[0]);
}

// Calls visit(std::type_identity<T>{}) with the C++ type of `type`, a type of run ends or of
// dictionary indexes.
template <typename Visitor>
decltype(auto) VisitIndex(PhysicalType type, Visitor&& visit) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> decltype(auto) {
    constexpr bool kIsIndex = kIsInteger<T> && sizeof(T) <= sizeof(int64_t);
    return visit(std::type_identity<std::conditional_t<kIsIndex, T, int64_t>>{});
  });
}

}  // namespace cfile::internal
