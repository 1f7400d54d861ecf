// The limits of cfile/arrow_ipc.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cfile/options.h"

namespace cfile {

struct ArrowIpcOptions {
  // The largest metadata of a message, and the largest footer, in bytes. Also limits the names and
  // the metadata of all fields together, as they are in memory.
  size_t max_metadata_size_bytes = kMaxMetadataSizeBytes;
  // The largest body of a message in bytes, as stored and after decompression.
  uint64_t max_batch_size_bytes = uint64_t{1} << 32;
  // The maximum number of values in an array.
  // A few bytes can stand for any number of nulls or of equal values.
  uint64_t max_array_length = INT32_MAX;
  // The limits of the schema.
  RecordLimits record_limits = {};
};

}  // namespace cfile
