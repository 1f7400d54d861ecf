#include "encodings/own/fsst_separate_encoder.h"

#include <algorithm>
#include <bit>

#include "encodings/core/assert.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

size_t FsstSeparateGroupWriter::Put(const SymbolCompressor& compressor, std::string_view text,
                                    std::span<const uint32_t> sizes, ByteWriter& out) {
  CFILE_ASSERT(!sizes.empty() && sizes.size() <= kFsstGroupValues);
  // Compress a value of each half at a time, because this is faster.
  const size_t half = (sizes.size() + 1) / 2;
  size_t half_bytes = 0;
  for (size_t i = 0; i < half; ++i) half_bytes += sizes[i];
  std::string_view rests[2] = {text.substr(0, half_bytes), text.substr(half_bytes)};
  uint8_t* ends[2];
  for (size_t h = 0; h < 2; ++h) {
    codes_[h].Clear();
    ends[h] = codes_[h].Extend(SymbolCompressor::WorstBytes(rests[h].size()));
  }
  uint32_t stored[kFsstGroupValues];
  for (size_t i = 0; i < half; ++i) {
    const size_t at[2] = {i, i + half};
    std::string_view values[2];
    uint8_t* const begins[2] = {ends[0], ends[1]};
    for (size_t h = 0; h < 2 && at[h] < sizes.size(); ++h) {
      values[h] = rests[h].substr(0, sizes[at[h]]);
      rests[h].remove_prefix(sizes[at[h]]);
    }
    compressor.CompressTwo(values, ends);
    for (size_t h = 0; h < 2 && at[h] < sizes.size(); ++h)
      stored[at[h]] = static_cast<uint32_t>(ends[h] - begins[h]);
  }
  for (size_t h = 0; h < 2; ++h)
    codes_[h].Truncate(static_cast<size_t>(ends[h] - codes_[h].data()));

  const size_t codes = codes_[0].size() + codes_[1].size();
  const bool compressed = codes < text.size();
  if (!compressed) std::copy(sizes.begin(), sizes.end(), stored);
  const std::span<uint32_t> packed(stored, sizes.size());
  const auto [min, max] = std::minmax_element(packed.begin(), packed.end());
  const uint32_t least = *min;
  const int width = std::bit_width(*max - least);
  for (uint32_t& size : packed) size -= least;
  out.PutFixed(static_cast<uint8_t>(width | (compressed ? kFsstCodes : 0)));
  out.PutVint(least);
  PackBits<uint32_t>(packed, width, out);
  if (!compressed) {
    out.PutBytes(text);
    return text.size();
  }
  for (const ByteWriter& part : codes_) out.PutBytes(part.span());
  return codes;
}

}  // namespace cfile::encodings
