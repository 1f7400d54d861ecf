// Why automatic choice has stored the blocks of a file as they are (cfile/FORMAT.md, The recorded
// choice).
#pragma once

#include <cstdint>
#include <optional>

#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

// A way to store blocks, and the size of some values in it.
struct StorageSize {
  Encoding encoding = Encoding::kPlain;
  bool compressed = false;  // with the file's codec
  uint64_t size_bytes = 0;
  friend bool operator==(const StorageSize&, const StorageSize&) = default;
};

// What the largest trial of a writer found. A trial encodes some of the first values of a block
// with several encodings; in a small column, all values. The sizes count what a block needs besides
// its values, and a share of the file's dictionary. The sizes are estimates.
struct ChoiceInfo {
  Goal goal = Goal::kBalanced;
  uint64_t num_values = 0;       // the number of values that the trial encoded
  uint64_t plain_size_bytes = 0;  // their size as PLAIN without compression
  StorageSize chosen;
  StorageSize smallest;  // of all storages that were tried; possibly the same as `chosen`
  // Estimated speed of a scan of the chosen storage, in bytes of decoded values, rounded to 100 MB
  // per second. A string counts as its bytes plus 16 bytes for its view. 0: a scan uses the values
  // in place.
  uint64_t scan_bytes_per_second = 0;
};

// Returns what is recorded in the footer. Returns nullopt if nothing is recorded, or if what is
// recorded contradicts itself. Nothing is recorded in these cases:
// - the encoding was named in the options
// - the file is smaller than about 1,000 bytes
// - the file has blocks that were copied from another file
// - the file is of version 1 or written for Kudu, or an older version of the library wrote it.
CFILE_EXPORT std::optional<ChoiceInfo> RecordedChoice(const FileInfo& info);

}  // namespace cfile
