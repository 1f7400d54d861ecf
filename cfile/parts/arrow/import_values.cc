#include "cfile/parts/arrow/import_values.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/import_array.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/types.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bool_bits.h"

namespace cfile::internal {
namespace {

// Calls read(position, value) for each value. `read` returns false if the value is wrong.
// `offset`: the offset of the array.
template <typename T, typename Read>
absl::Status ForEach(const ImportField& field, const ArrowArray& array, const Slots& slots, T* out,
                     std::string_view wrong, const Read& read) {
  bool good = true;
  if (slots.dense && slots.null_count == 0) {
    const int64_t first = slots.first + array.offset;
    for (size_t i = 0; i < slots.count; ++i) good &= read(first + static_cast<int64_t>(i), out[i]);
  } else {
    for (size_t i = 0; i < slots.count; ++i) {
      const bool valid = slots.dense ? BitAt(slots.validity.data(), static_cast<int64_t>(i))
                                     : slots.list[i] != Slots::kNull;
      if (!valid) {
        out[i] = T{};
        continue;
      }
      const int64_t slot = slots.dense ? slots.first + static_cast<int64_t>(i) : slots.list[i];
      good &= read(slot + array.offset, out[i]);
    }
  }
  return good ? absl::OkStatus() : MalformedArray(field, wrong);
}

// True for types whose values have the kind ArrowKind::kNumbers.
template <typename T>
constexpr bool kIsNumber = encodings::kIsFloat<T> ||
                           (encodings::kIsInteger<T> && sizeof(T) <= sizeof(int64_t));

// True if ReadNumbers converts numbers of type From to type To. An int64 becomes an Int96 as
// nanoseconds since 1970.
template <typename From, typename To>
constexpr bool kReads = kIsNumber<From> &&
                        ((Holds<From, To>() &&
                          encodings::kIsFloat<From> == encodings::kIsFloat<To>) ||
                         (std::is_same_v<From, int64_t> && std::is_same_v<To, Int96>));

// Converts nanoseconds since 1970 to the Julian day and the nanoseconds of this day.
Int96 ToInt96(int64_t nanos) {
  int64_t day = nanos / kNanosPerDay;
  if (nanos % kNanosPerDay < 0) --day;
  const auto of_day = static_cast<uint64_t>(nanos - day * kNanosPerDay);
  return Int96(uint128_t{static_cast<uint32_t>(day + kJulianDayOf1970)} << 64 | of_day);
}

template <typename From, typename To>
absl::StatusOr<std::span<const To>> ReadNumbers(const ImportField& field, const ArrowArray& array,
                                                const Slots& slots, const void* values,
                                                ValueBuffer& buffer) {
  if constexpr (std::is_same_v<From, To>) {
    const To* const first = static_cast<const To*>(values) + (slots.first + array.offset);
    if (slots.dense && reinterpret_cast<uintptr_t>(first) % alignof(To) == 0)
      return std::span<const To>(first, slots.count);
  }
  To* const out = buffer.Resize<To>(slots.count);
  CFILE_RETURN_IF_ERROR(ForEach(field, array, slots, out, "", [&](int64_t at, To& value) {
    if constexpr (std::is_same_v<To, Int96>) {
      value = ToInt96(LoadAt<From>(values, at));
    } else {
      value = static_cast<To>(LoadAt<From>(values, at));
    }
    return true;
  }));
  return std::span<const To>(out, slots.count);
}

template <typename To>
bool ReadDecimal(const void* values, uint32_t width, int64_t at, To& value) {
  int128_t wide;
  if (width == 4) {
    wide = LoadAt<int32_t>(values, at);
  } else if (width == 8) {
    wide = LoadAt<int64_t>(values, at);
  } else if (width == 16) {
    wide = LoadAt<int128_t>(values, at);
  } else {
    wide = LoadAt<int128_t>(values, 2 * at);
    if (LoadAt<int128_t>(values, 2 * at + 1) != (wide < 0 ? -1 : 0)) return false;
  }
  value = static_cast<To>(wide);
  return value == wide;
}

template <typename T>
absl::StatusOr<std::span<const T>> ReadFixedWidth(const ImportField& field, const ArrowArray& array,
                                                  const Slots& slots, ValueBuffer& buffer) {
  const void* const values = array.buffers[1];
  if (field.kind == ArrowKind::kNumbers) {
    return VisitType(
        field.physical,
        [&]<typename From>(std::type_identity<From>) -> absl::StatusOr<std::span<const T>> {
          if constexpr (kReads<From, T>) {
            return ReadNumbers<From, T>(field, array, slots, values, buffer);
          } else {
            return MalformedArray(field, "not storable");  // CheckStorable excludes this
          }
        });
  }
  if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                std::is_same_v<T, int128_t>) {
    if (field.kind == ArrowKind::kDecimals && field.width == sizeof(T))
      return ReadNumbers<T, T>(field, array, slots, values, buffer);
    T* const out = buffer.Resize<T>(slots.count);
    if (field.kind == ArrowKind::kDecimals) {
      CFILE_RETURN_IF_ERROR(ForEach(
          field, array, slots, out, "a decimal does not fit into the column's type",
          [&](int64_t at, T& value) { return ReadDecimal(values, field.width, at, value); }));
    } else {
      constexpr int64_t kDay = 86'400'000;
      CFILE_RETURN_IF_ERROR(ForEach(field, array, slots, out,
                                    "milliseconds of a date are not whole days of 32 bits",
                                    [&](int64_t at, T& value) {
                                      const auto millis = LoadAt<int64_t>(values, at);
                                      value = static_cast<T>(millis / kDay);
                                      return value * kDay == millis;
                                    }));
    }
    return std::span<const T>(out, slots.count);
  }
  return MalformedArray(field, "not storable");  // CheckStorable excludes this
}

absl::StatusOr<std::span<const bool>> ReadBits(const ImportField& field, const ArrowArray& array,
                                               const Slots& slots, ValueBuffer& buffer) {
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[1]);
  bool* const out = buffer.Resize<bool>(slots.count);
  if (slots.dense) {
    const auto first = static_cast<uint64_t>(slots.first + array.offset);
    encodings::UnpackBools({bits, encodings::BitmapBytes(first + slots.count)}, first, out,
                           slots.count);
  } else {
    CFILE_RETURN_IF_ERROR(ForEach(field, array, slots, out, "", [&](int64_t at, bool& value) {
      value = BitAt(bits, at);
      return true;
    }));
  }
  return std::span<const bool>(out, slots.count);
}

template <typename Offset>
absl::Status ReadStrings(const ImportField& field, const ArrowArray& array, const Slots& slots,
                         std::string_view* out) {
  const void* const offsets = array.buffers[1];
  const auto* const data = static_cast<const char*>(array.buffers[2]);
  const auto first = LoadAt<Offset>(offsets, array.offset);
  const auto last = LoadAt<Offset>(offsets, array.offset + array.length);
  if (slots.dense && slots.count > 0) {
    // One loop checks all offsets, so that the loop that makes the values needs no checks.
    // No offset and no length may be negative. (Unsigned subtraction cannot overflow.)
    using Unsigned = std::make_unsigned_t<Offset>;
    const int64_t begin = array.offset + slots.first;
    const auto count = static_cast<int64_t>(slots.count);
    Unsigned negative = 0;  // the top bit is 1 if a number is negative
    for (int64_t i = begin; i < begin + count; ++i) {
      const auto end = LoadAt<Unsigned>(offsets, i + 1);
      negative |= end | (end - LoadAt<Unsigned>(offsets, i));
    }
    if (static_cast<Offset>(negative) >= 0 && first >= 0 &&
        first <= LoadAt<Offset>(offsets, begin) && LoadAt<Offset>(offsets, begin + count) <= last) {
      for (int64_t i = 0; i < count; ++i) {
        const auto at = LoadAt<Offset>(offsets, begin + i);
        const auto end = LoadAt<Offset>(offsets, begin + i + 1);
        out[i] = {data + at, static_cast<size_t>(end - at)};
      }
      return absl::OkStatus();
    }
    // The wrong offset may belong to a null, which is allowed. The code below checks each value.
  }
  return ForEach(field, array, slots, out, "the offsets of a string descend or are too large",
                 [&](int64_t at, std::string_view& value) {
                   const auto begin = LoadAt<Offset>(offsets, at);
                   const auto end = LoadAt<Offset>(offsets, at + 1);
                   const bool good = first <= begin && begin <= end && end <= last;
                   if (good) value = {data + begin, static_cast<size_t>(end - begin)};
                   return good;
                 });
}

absl::Status ReadViews(const ImportField& field, const ArrowArray& array, const Slots& slots,
                       std::string_view* out) {
  struct View {
    int32_t size;
    int32_t prefix;
    int32_t buffer;
    int32_t offset;
  };
  constexpr int32_t kInline = 12;
  const auto* const views = static_cast<const char*>(array.buffers[1]);
  const int64_t buffers = array.n_buffers - 3;
  const void* const sizes = array.buffers[array.n_buffers - 1];
  return ForEach(field, array, slots, out, "a view is not in its buffer",
                 [&](int64_t at, std::string_view& value) {
                   const auto view = LoadAt<View>(views, at);
                   if (view.size >= 0 && view.size <= kInline) {
                     value = {views + at * static_cast<int64_t>(sizeof(View)) + sizeof(int32_t),
                              static_cast<size_t>(view.size)};
                     return true;
                   }
                   if (view.size < 0 || view.buffer < 0 || view.buffer >= buffers ||
                       view.offset < 0 ||
                       int64_t{view.offset} + view.size > LoadAt<int64_t>(sizes, view.buffer)) {
                     return false;
                   }
                   value = {static_cast<const char*>(array.buffers[2 + view.buffer]) + view.offset,
                            static_cast<size_t>(view.size)};
                   return true;
                 });
}

absl::StatusOr<std::span<const std::string_view>> ReadBytes(const ImportField& field,
                                                            const ArrowArray& array,
                                                            const Slots& slots,
                                                            ValueBuffer& buffer) {
  std::string_view* const out = buffer.Resize<std::string_view>(slots.count);
  switch (field.kind) {
    case ArrowKind::kStrings32:
      CFILE_RETURN_IF_ERROR(ReadStrings<int32_t>(field, array, slots, out));
      break;
    case ArrowKind::kStrings64:
      CFILE_RETURN_IF_ERROR(ReadStrings<int64_t>(field, array, slots, out));
      break;
    case ArrowKind::kViews:
      CFILE_RETURN_IF_ERROR(ReadViews(field, array, slots, out));
      break;
    default: {
      const auto* const data = static_cast<const char*>(array.buffers[1]);
      CFILE_RETURN_IF_ERROR(
          ForEach(field, array, slots, out, "", [&](int64_t at, std::string_view& value) {
            value = {data + at * field.width, field.width};
            return true;
          }));
    }
  }
  return std::span<const std::string_view>(out, slots.count);
}

template <typename T>
absl::StatusOr<std::span<const T>> ReadTyped(const ImportField& field, const ArrowArray& array,
                                             const Slots& slots, ValueBuffer& buffer) {
  // An array without values may have no buffers.
  if (slots.count == slots.null_count) {
    T* const out = buffer.Resize<T>(slots.count);
    std::fill_n(out, slots.count, T{});
    return std::span<const T>(out, slots.count);
  }
  if constexpr (std::is_same_v<T, bool>) {
    return ReadBits(field, array, slots, buffer);
  } else if constexpr (encodings::kIsBytes<T>) {
    return ReadBytes(field, array, slots, buffer);
  } else {
    return ReadFixedWidth<T>(field, array, slots, buffer);
  }
}

}  // namespace

absl::StatusOr<encodings::ValueSpan> ReadValues(PhysicalType type, const ImportField& field,
                                                const ArrowArray& array, const Slots& slots,
                                                ValueBuffer& buffer) {
  using Result = absl::StatusOr<encodings::ValueSpan>;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> Result {
    CFILE_ASSIGN_OR_RETURN(const auto values, ReadTyped<T>(field, array, slots, buffer));
    return encodings::ValueSpan(values);
  });
}

}  // namespace cfile::internal
