// Checks the piece tables of a file (cfile/FORMAT.md, Pieces) for Verify.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "encodings/core/value_dictionary.h"

namespace cfile::internal {

// A data block, as the positional index says.
struct PlacedDataBlock {
  uint64_t first_ordinal = 0;
  BlockPointer pointer;
};

// Reads the piece tables of `file`, whose data blocks are `blocks`, and calls report(status, place)
// for each damage of a table or of the pieces of a block (ListRegions finds damage of the
// directory). A record must be of one of `blocks`; its pieces have all rows of the block, and a
// correct checksum each; the first value of a piece is that of the block at this row, and the key
// of the piece separates it from the value before. Other values of pieces are not compared. Does
// nothing if the file has no pieces. `dictionary`: of the file.
void CheckPieces(FileReader& file, std::span<const PlacedDataBlock> blocks,
                 const std::shared_ptr<const encodings::Dictionary>& dictionary,
                 const std::function<void(absl::Status status, const BlockPointer& place)>& report);

}  // namespace cfile::internal
