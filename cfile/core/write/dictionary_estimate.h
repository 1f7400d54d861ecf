// Estimates what a dictionary costs, from a sample of a column.
#pragma once

#include <cstdint>
#include <optional>

#include "encodings/core/block_codec.h"

namespace cfile::internal {

// Estimated sizes of the parts of a sample that is dictionary-encoded.
struct DictionarySizes {
  double codes = 0;  // the bytes of the codes
  // The width of codes for all values of the column, divided by the width of codes for the values
  // of the sample.
  double wider = 1;
  double share = 0;        // the bytes of the dictionary that are charged to the sample
  double least_share = 0;  // the share if the column had many more values
};

// Estimates DictionarySizes for a sample of a column of `column_values` values of `type`. A sample
// shows only some of a file's values, so the number of distinct values is estimated from the values
// that occur once and twice (Chao's estimator). The share is the dictionary's size times the number
// of values in the sample, divided by the number of values in one block. The dictionary counts with
// at most as many entries as a block has values. Returns nullopt if the whole dictionary would
// exceed its limit.
std::optional<DictionarySizes> EstimateDictionary(encodings::ValueSpan values,
                                                  encodings::PhysicalType type,
                                                  uint64_t column_values,
                                                  const encodings::EncoderOptions& options);

}  // namespace cfile::internal
