// Finds the best way to store the values of a sample: the encoding, and whether to compress.
#pragma once

#include <span>
#include <vector>

#include "cfile/internal/auto_encoder.h"
#include "encodings/block_codec.h"
#include "encodings/registry.h"

namespace cfile::internal {

struct Storage {
  const encodings::EncodingRow* row = nullptr;
  bool compressed = false;
  friend bool operator==(const Storage&, const Storage&) = default;
};

// The encodings that are tried for a column of `type`, PLAIN first.
std::vector<const encodings::EncodingRow*> TrialCandidates(PhysicalType type);

// Encodes `values` with each candidate, compresses the results where that may be worth it, and
// chooses by the Goal. `options`: the options of the encoders that will write the blocks.
// Preconditions: `values` is not empty; `candidates` are TrialCandidates(type).
template <typename T>
Storage TryStorage(std::span<const T> values, PhysicalType type,
                   const encodings::EncoderOptions& options, const AutoOptions& choice,
                   std::span<const encodings::EncodingRow* const> candidates);

}  // namespace cfile::internal
