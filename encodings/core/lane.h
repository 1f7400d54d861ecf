// Values without their C++ type. Code that only moves values is compiled once, and not once for
// each type: it needs only the lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// How a value lies in memory: kBytes is a std::string_view, the others are numbers of so many
// bytes. (A bool is a number of one byte.)
enum class Lane : uint8_t { k1, k2, k4, k8, k12, k16, kBytes };

template <typename T>
constexpr Lane LaneOf() {
  static_assert(kIsValueType<T>);
  if constexpr (kIsBytes<T>) return Lane::kBytes;
  switch (sizeof(T)) {
    case 1:
      return Lane::k1;
    case 2:
      return Lane::k2;
    case 4:
      return Lane::k4;
    case 8:
      return Lane::k8;
    case 12:
      return Lane::k12;
    default:
      return Lane::k16;
  }
}
inline Lane LaneOf(PhysicalType type) {
  return VisitPhysicalType(type, [](auto t) { return LaneOf<typename decltype(t)::type>(); });
}

// Returns the bytes that a value takes in an array.
constexpr size_t WidthOf(Lane lane) {
  constexpr size_t kWidths[] = {1, 2, 4, 8, 12, 16, sizeof(std::string_view)};
  return kWidths[static_cast<size_t>(lane)];
}

// Calls visit(width), where `width` is a std::integral_constant with the value WidthOf(lane), and
// returns its result.
template <typename Visitor>
decltype(auto) VisitWidth(Lane lane, Visitor&& visit) {
  switch (lane) {
    case Lane::k1:
      return visit(std::integral_constant<size_t, 1>{});
    case Lane::k2:
      return visit(std::integral_constant<size_t, 2>{});
    case Lane::k4:
      return visit(std::integral_constant<size_t, 4>{});
    case Lane::k8:
      return visit(std::integral_constant<size_t, 8>{});
    case Lane::k12:
      return visit(std::integral_constant<size_t, 12>{});
    default:
      static_assert(sizeof(std::string_view) == 16);
      return visit(std::integral_constant<size_t, 16>{});
  }
}

// Values of one lane, one after another in memory. A view. The code that uses it must know the
// lane.
struct ValueSpan {
  ValueSpan() = default;
  ValueSpan(const void* begin, size_t size) : data(begin), count(size) {}
  template <typename T>
  ValueSpan(std::span<const T> values)  // NOLINT: the same view without its type
      : data(values.data()), count(values.size()) {}

  bool empty() const { return count == 0; }
  // Precondition: the values were written as values of T.
  template <typename T>
  std::span<const T> As() const {
    return {static_cast<const T*>(data), count};
  }

  const void* data = nullptr;
  size_t count = 0;
};

inline const void* ValueAt(const void* values, Lane lane, size_t i) {
  return static_cast<const uint8_t*>(values) + i * WidthOf(lane);
}
inline void* ValueAt(void* values, Lane lane, size_t i) {
  return static_cast<uint8_t*>(values) + i * WidthOf(lane);
}

}  // namespace cfile::encodings
