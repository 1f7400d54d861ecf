// The decoded values of a dictionary. The LoadDictionary function of each dictionary encoding makes
// it; the decoders look up values in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/strings/cord.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// Returns kOutOfRange if `count`, the number of values of a dictionary, is more than `max_values`.
inline absl::Status CheckDictionarySize(uint64_t count, size_t max_values) {
  if (count <= max_values) return absl::OkStatus();
  return absl::OutOfRangeError(StrCat("a dictionary of ", count, " values is ",
                                      AboveLimit(max_values, "max_dictionary_values")));
}

// The type URL of the payload of MissingDictionary, which is empty.
inline constexpr char kMissingDictionary[] = "cfile/missing-dictionary";

// Returns the error of a block that has `codes` codes although the file has no dictionary.
inline absl::Status MissingDictionary(std::string_view encoding, uint32_t codes) {
  absl::Status status = DataLoss(encoding, ": ", codes, " codes, but there is no dictionary");
  status.SetPayload(kMissingDictionary, absl::Cord());
  return status;
}

// True if MissingDictionary has made `status`. Callers may have changed the message.
inline bool IsMissingDictionary(const absl::Status& status) {
  return status.GetPayload(kMissingDictionary).has_value();
}

// Immutable after loading. (`values` is not a std::vector<P>, because the elements of
// std::vector<bool> have no addresses.)
template <typename P>
struct ValueDictionary final : Dictionary {
  bool has_values() const override { return true; }

  std::unique_ptr<P[]> values;  // values[i] is the value of code i
  uint32_t size = 0;
  uint32_t type_length = 0;  // std::string_view: bytes of each value; 0: any length
  // If P is std::string_view: the bytes of the values, one value directly after the other, in the
  // order of their codes. The next PackedStrings::kAhead bytes are readable, too.
  std::unique_ptr<uint8_t[]> text;
};

}  // namespace cfile::encodings
