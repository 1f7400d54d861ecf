// The skip table of DELTA_BYTE_ARRAY (delta_byte_array.h), for the encoder and for pages that
// another writer has made (page_skip_table.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_length_byte_array.h"

namespace cfile::encodings {

// In a skip table: the prefix is not stored.
inline constexpr uint32_t kNoDeltaPrefix = UINT32_MAX;

// Appends the skip table of a page of DELTA_BYTE_ARRAY that has `page_size` bytes. `suffixes` and
// `data`: the offsets at the begin of the table. value_at(n) returns value n of the page; it is
// called with ascending numbers.
template <typename ValueAt>
void PutDeltaByteArrayPlaces(uint32_t suffixes, uint32_t data, size_t page_size,
                             std::span<const DeltaPlace<int32_t>> prefix_places,
                             std::span<const DeltaLengthPlace> suffix_places, ByteWriter& out,
                             const ValueAt& value_at) {
  // The table stores all prefixes of at most this many bytes. It stores longer prefixes while these
  // take at most a sixteenth of the page in total.
  constexpr size_t kShortPrefix = 64;
  out.PutFixed(suffixes);
  out.PutFixed(data);
  ByteWriter prefixes;
  size_t allowance = page_size / 16;
  for (size_t i = 0; i < suffix_places.size(); ++i) {
    const auto length = static_cast<size_t>(prefix_places[i].value);
    const bool stored = length <= kShortPrefix || length <= allowance;
    out.PutFixed(prefix_places[i].offset);
    out.PutFixed(prefix_places[i].value);
    PutPlace(suffix_places[i], out);
    out.PutFixed(stored ? static_cast<uint32_t>(prefixes.size()) : kNoDeltaPrefix);
    if (!stored) continue;
    prefixes.PutBytes(value_at((i + 1) * kSkipInterval).substr(0, length));
    if (length > kShortPrefix) allowance -= length;
  }
  out.PutBytes(prefixes.span());
}

}  // namespace cfile::encodings
