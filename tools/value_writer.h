// Writes values as text into memory of the caller, without an allocation for each value. The text
// is that of tools/value_text.h, whose functions are easier to use. A loop over the values of a
// column gets the function that suits their type once:
//
//   VisitWriter<int32_t>(type, [&](auto write) {
//     for (const int32_t value : values) out = write(value, out);
//   });
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "cfile/batch.h"
#include "cfile/types.h"
#include "tools/civil_writer.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"

namespace cfile::tools {

// The largest number of bytes that a writer writes for a value of T. For bytes: for each byte of
// the value, plus kUuidDashes.
template <ValueType T>
constexpr size_t kMaxTextBytes = kIsBytes<T>     ? 2
                                 : sizeof(T) > 8 ? 48
                                                 : 32;
inline constexpr size_t kUuidDashes = 4;

namespace value_writer {

template <typename T>
char* WriteInteger(T value, char* out) {
  return std::to_chars(out, out + kMaxTextBytes<int64_t>, value).ptr;
}

// Writes the digits of a number, all 39 of the largest.
inline char* WriteDigits(uint128_t number, char* out) {
  constexpr uint64_t k10To19 = 10'000'000'000'000'000'000u;
  if (number <= std::numeric_limits<uint64_t>::max()) {
    return WriteInteger(static_cast<uint64_t>(number), out);
  }
  out = WriteDigits(number / k10To19, out);
  char low[kMaxTextBytes<int64_t>];
  const auto size =
      static_cast<size_t>(WriteInteger(static_cast<uint64_t>(number % k10To19), low) - low);
  std::memset(out, '0', 19 - size);
  std::memcpy(out + 19 - size, low, size);
  return out + 19;
}

// Writes an integer of 128 bits, or a decimal with `scale` digits after the point.
struct DecimalWriter {
  int scale = 0;

  template <typename T>
  char* operator()(T value, char* out) const {
    const bool negative = value < 0;
    const auto bits = static_cast<uint128_t>(value);
    if (negative) *out++ = '-';
    char* const end = WriteDigits(negative ? uint128_t{0} - bits : bits, out);
    if (scale == 0) return end;
    // Moves the digits to the right: those after the point by one, or all behind "0.00".
    const auto digits = static_cast<size_t>(end - out);
    const auto after = static_cast<size_t>(scale);
    if (digits > after) {
      std::memmove(end - after + 1, end - after, after);
      end[-static_cast<ptrdiff_t>(after)] = '.';
      return end + 1;
    }
    const size_t zeros = after - digits;
    std::memmove(out + 2 + zeros, out, digits);
    std::memset(out, '0', 2 + zeros);
    out[1] = '.';
    return out + 2 + after;
  }
};

struct IntegerWriter {
  template <typename T>
  char* operator()(T value, char* out) const {
    return WriteInteger(value, out);
  }
};

struct BoolWriter {
  char* operator()(bool value, char* out) const {
    std::memcpy(out, value ? "true\0" : "false", 5);
    return out + (value ? 4 : 5);
  }
};

// Writes the shortest text that reads back as the value. `with_point`: a finite value always has a
// point or an exponent.
struct FloatWriter {
  bool with_point = false;

  template <typename T>
  char* operator()(T value, char* out) const {
    if (std::isnan(value)) {  // to_chars would print the sign bit
      std::memcpy(out, "nan", 3);
      return out + 3;
    }
    char* const end = std::to_chars(out, out + kMaxTextBytes<double>, value).ptr;
    if (!with_point || std::isinf(value)) return end;
    for (const char* at = out; at != end; ++at) {
      if (*at == '.' || *at == 'e') return end;
    }
    std::memcpy(end, ".0", 2);
    return end + 2;
  }
};

struct HexWriter {
  template <typename T>
  char* operator()(const T& value, char* out) const {
    if constexpr (kIsBytes<T>) {
      return WriteHex(value, out);
    } else {
      return WriteHex({reinterpret_cast<const char*>(&value), sizeof value}, out);
    }
  }
};

struct UuidWriter {
  char* operator()(std::string_view value, char* out) const {
    if (value.size() != 16) return WriteHex(value, out);
    constexpr size_t kParts[] = {0, 4, 6, 8, 10, 16};
    for (size_t i = 0; i < 5; ++i) {
      if (i > 0) *out++ = '-';
      out = WriteHex(value.substr(kParts[i], kParts[i + 1] - kParts[i]), out);
    }
    return out;
  }
};

struct TextWriter {
  char* operator()(std::string_view value, char* out) const {
    if (!value.empty()) std::memcpy(out, value.data(), value.size());
    return out + value.size();
  }
};

}  // namespace value_writer

// Calls visit(write), where write(value, out) writes the text of a value of a column of `type` to
// `out` and returns the end of the text. `write` is a function object, which may have a state, so
// only one thread at a time may use it. `with_point`: finite floats always have a point or an
// exponent, so that readers know them from integers. Precondition: HoldsType<T>(type).
template <ValueType T, typename Visitor>
void VisitWriter(const ColumnType& type, bool with_point, Visitor visit) {
  using namespace value_writer;
  if constexpr (kIsBytes<T>) {
    if (IsText(type)) return visit(TextWriter());
    if (type.logical == LogicalType::kUuid) return visit(UuidWriter());
    return visit(HexWriter());
  } else if constexpr (kIsFloat<T>) {
    visit(FloatWriter{with_point});
  } else if constexpr (std::is_same_v<T, bool>) {
    visit(BoolWriter());
  } else if constexpr (std::is_same_v<T, Int96>) {
    visit(HexWriter());
  } else {
    const Meaning meaning = MeaningOf(type);
    if constexpr (std::is_same_v<T, int128_t>) {
      visit(DecimalWriter{meaning == Meaning::kDecimal ? type.decimal_scale : 0});
    } else {
      if (meaning == Meaning::kNumber) return visit(IntegerWriter());
      if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
        if (meaning == Meaning::kDecimal) return visit(DecimalWriter{type.decimal_scale});
        if (meaning == Meaning::kDate) return visit(DateWriter());
        VisitUnit(UnitOf(type), [&]<typename Unit>(Unit) {
          if (meaning == Meaning::kTime) return visit(TimeWriter<Unit>());
          visit(TimestampWriter<Unit>(IsZoned(type)));
        });
      }
    }
  }
}

}  // namespace cfile::tools
