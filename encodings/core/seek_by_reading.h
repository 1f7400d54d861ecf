// Searches by key in blocks whose values must be decoded before they can be compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/status/statusor.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// Number of values from one entry of a skip table to the next.
inline constexpr uint32_t kSkipInterval = 1024;

// Implements BlockDecoder::SeekToKey for decoders that must decode a value to compare it: a binary
// search over every kSkipInterval-th value, then a linear search over the values of one interval.
template <typename T>
absl::StatusOr<LowerBound> SeekToKeyByReading(BlockDecoder<T>& decoder, const T& key) {
  // An interval whose first value is less than the key, or interval 0.
  uint32_t low = 0;
  // An interval whose first value is >= key, or the number of intervals.
  uint32_t high = decoder.count() / kSkipInterval + (decoder.count() % kSkipInterval != 0);
  T value;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    CFILE_RETURN_IF_ERROR(decoder.SeekTo(middle * kSkipInterval));
    CFILE_RETURN_IF_ERROR(decoder.Read({&value, 1}).status());
    if (KeyLess<T>(value, key)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  uint32_t position = low * kSkipInterval;
  const auto end =
      static_cast<uint32_t>(std::min<uint64_t>(decoder.count(), uint64_t{high} * kSkipInterval));
  CFILE_RETURN_IF_ERROR(decoder.SeekTo(position));
  T values[256];
  while (position < end) {
    CFILE_ASSIGN_OR_RETURN(
        const size_t read,
        decoder.Read({values, std::min<size_t>(std::size(values), end - position)}));
    if (read == 0) return DataLoss("the block's values end at value ", position);
    for (size_t i = 0; i < read; ++i) {
      if (KeyLess<T>(values[i], key)) continue;
      const bool exact = values[i] == key;
      position += static_cast<uint32_t>(i);
      CFILE_RETURN_IF_ERROR(decoder.SeekTo(position));
      return LowerBound{position, exact};
    }
    position += static_cast<uint32_t>(read);
  }
  if (position == decoder.count()) return LowerBound{position, false};
  CFILE_RETURN_IF_ERROR(decoder.SeekTo(position));
  CFILE_RETURN_IF_ERROR(decoder.Read({&value, 1}).status());
  const bool exact = value == key;
  CFILE_RETURN_IF_ERROR(decoder.SeekTo(position));
  return LowerBound{position, exact};
}

}  // namespace cfile::encodings
