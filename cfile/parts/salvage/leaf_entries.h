// Lists the data blocks of a file whose indexes may be damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/file_info.h"

namespace cfile::internal {

struct LeafEntry {
  BlockPointer pointer;
  std::optional<uint64_t> first_ordinal;  // known from a positional index only
};

struct LeafEntries {
  std::vector<LeafEntry> entries;  // in file order
  // True if `entries` are all blocks of the file, because they come from an undamaged index.
  bool whole = false;
};

// Called with a node that cannot be used, and the reason.
using LoseNode = std::function<void(const BlockPointer& node, const absl::Status& status)>;

// Returns the data blocks that the leaves of an undamaged index of `file` point to. If no index is
// undamaged, combines the undamaged parts of both. Calls `lose` for each node of either index that
// `check` or `file` finds damaged. `check`: an additional check of a node; it gets the node's
// pointer. Memory: 32 bytes for each block, and twice that while two damaged indexes are combined.
LeafEntries ReadLeafEntries(FileReader& file,
                            const std::function<absl::Status(const BlockPointer&)>& check,
                            const LoseNode& lose);

}  // namespace cfile::internal
