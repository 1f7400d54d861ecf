// The data blocks of a file of whose indexes a part may be lost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"
#include "cfile/internal/file_reader.h"

namespace cfile::internal {

struct LeafEntry {
  BlockPointer pointer;
  std::optional<uint64_t> first_ordinal;  // where a positional index says it
};

struct LeafEntries {
  std::vector<LeafEntry> entries;  // in file order
  // They are all that the file has: those of an index of which nothing is lost.
  bool whole = false;
};

// A node that cannot be used, and why.
using LoseNode = std::function<void(const BlockPointer& node, const absl::Status& status)>;

// What the leaves of an index of `file` point to that is whole; where none is, what the rest of
// both knows together. Calls `lose` for each node of either index that `check` or `file` says is
// damaged. `check`: what is known of a node's bytes, besides what `file` finds. Memory: 32 bytes
// for each block, twice that while two damaged indexes are put together.
LeafEntries ReadLeafEntries(FileReader& file,
                            const std::function<absl::Status(const BlockPointer&)>& check,
                            const LoseNode& lose);

}  // namespace cfile::internal
