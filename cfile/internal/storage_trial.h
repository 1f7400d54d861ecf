// How the values of a sample are best stored: by which encoding, compressed or not.
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

// The encodings of the registry that a column of `type` is tried with, PLAIN first.
std::vector<const encodings::EncodingRow*> TrialCandidates(PhysicalType type);

// Encodes `values` with each candidate, compresses what that may pay for, and chooses as Goal says.
// `options`: of the encoders that are to follow. Preconditions: `values` is not empty; `candidates`
// are TrialCandidates(type).
template <typename T>
Storage TryStorage(std::span<const T> values, PhysicalType type,
                   const encodings::EncoderOptions& options, const AutoOptions& choice,
                   std::span<const encodings::EncodingRow* const> candidates);

}  // namespace cfile::internal
