// Reads a file in all ways and lists the results as hashes. Two files have equal lists if all calls
// return the same results. The list of a damaged file ends at the first error, and must be a prefix
// of the undamaged file's list.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/reader.h"

namespace cfile::campaign {

struct Transcript {
  std::vector<uint64_t> steps;
  absl::Status status;  // OK: there was no error

  // `whole` is the transcript of an undamaged file, and this is the transcript of a damaged copy.
  // Returns true if this is a prefix of `whole`, or is equal to `whole` if there was no error.
  bool IsFrontOf(const Transcript& whole) const;
};

// For each type of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
uint64_t HashOf(const T& value);

// Reads the file to its end or to the first error.
Transcript TranscriptOfFile(const absl::StatusOr<Reader>& reader);

}  // namespace cfile::campaign
