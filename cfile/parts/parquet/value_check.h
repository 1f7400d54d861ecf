// Checks what a column's type says about its values, beyond their number of bytes. Other readers
// refuse files with wrong values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/types.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Returns 0 if all bytes of `text` are ASCII.
inline uint64_t BytesBeyondAscii(std::string_view text) {
  const auto load = [&]<typename Word>(Word word, size_t at) {
    std::memcpy(&word, text.data() + at, sizeof(Word));
    return uint64_t{word};
  };
  uint64_t bits = 0;
  if (text.size() >= sizeof(uint64_t)) {
    const size_t last = text.size() - sizeof(uint64_t);
    for (size_t i = 0; i < last; i += sizeof(uint64_t)) bits |= load(uint64_t{}, i);
    bits |= load(uint64_t{}, last);
  } else if (text.size() >= sizeof(uint32_t)) {
    bits = load(uint32_t{}, 0) | load(uint32_t{}, text.size() - sizeof(uint32_t));
  } else if (!text.empty()) {
    bits = load(uint8_t{}, 0) | load(uint8_t{}, text.size() / 2) | load(uint8_t{}, text.size() - 1);
  }
  return bits & 0x8080808080808080;
}

// Returns 0 if all bytes of all texts are ASCII.
inline uint64_t BytesBeyondAscii(std::span<const std::string_view> texts) {
  // Values that follow each other, perhaps with lengths of 4 bytes between them, are checked
  // together, which is faster. If a long length is not ASCII, each text is checked alone.
  bool together = !texts.empty();
  for (size_t i = 1; i < texts.size(); ++i) {
    const auto gap = reinterpret_cast<uintptr_t>(texts[i].data()) -
                     reinterpret_cast<uintptr_t>(texts[i - 1].data()) - texts[i - 1].size();
    together &= gap == 0 || gap == sizeof(uint32_t);
  }
  if (together) {
    const char* const end = texts.back().data() + texts.back().size();
    const char* const begin = texts.front().data();
    if (BytesBeyondAscii({begin, static_cast<size_t>(end - begin)}) == 0) return 0;
  }
  uint64_t bits = 0;
  for (const std::string_view text : texts) bits |= BytesBeyondAscii(text);
  return bits;
}

// Strings must be UTF-8, and decimals must not have more digits than their type. Times are not
// checked: writers store negative ones, and readers take them. A plain value.
class ValueCheck {
 public:
  explicit ValueCheck(const ColumnType& type) : type_(type) {
    is_text_ = type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
    for (int digit = 0; digit < type.decimal_precision; ++digit) most_ = 10 * most_ + 9;
  }

  // False: all values of the type are right.
  bool checks() const { return is_text_ || most_ != 0; }

  // kDataLoss: a value is wrong. `first`: the number of the first of `values` in the page or
  // dictionary, for the message. Precondition: the values have the C++ type of the column.
  absl::Status Check(encodings::ValueSpan values, uint64_t first) const {
    if (is_text_) return CheckTexts(values.As<std::string_view>(), first);
    if (most_ == 0) return absl::OkStatus();
    switch (type_.physical()) {
      case PhysicalType::kInt32:
        return CheckDecimals(values.As<int32_t>(), first);
      case PhysicalType::kInt64:
        return CheckDecimals(values.As<int64_t>(), first);
      default:
        return CheckDecimals(values.As<int128_t>(), first);
    }
  }

 private:
  static absl::Status CheckTexts(std::span<const std::string_view> values, uint64_t first) {
    const uint64_t others = BytesBeyondAscii(values);
    for (size_t i = 0; others != 0 && i < values.size(); ++i) {
      if (IsUtf8(values[i])) continue;
      return encodings::DataLoss("value ", first + i,
                                 " is not UTF-8, as strings are; a column of type binary takes it");
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status CheckDecimals(std::span<const T> values, uint64_t first) const {
    const T most = static_cast<T>(most_);
    bool wrong = false;
    for (const T value : values) wrong |= value < -most || value > most;
    for (size_t i = 0; wrong && i < values.size(); ++i) {
      if (values[i] >= -most && values[i] <= most) continue;
      if constexpr (sizeof(T) <= sizeof(int64_t)) {
        return encodings::DataLoss("value ", first + i, " is ", values[i], ", which no ",
                                   type_.ToString(), " can be");
      } else {
        return encodings::DataLoss("value ", first + i, " has too many digits for ",
                                   type_.ToString());
      }
    }
    return absl::OkStatus();
  }

  ColumnType type_;
  bool is_text_ = false;
  int128_t most_ = 0;  // the largest decimal; 0: all values are right
};

}  // namespace cfile::internal
