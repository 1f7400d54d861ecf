// The part of a data block before the encoded values: the null bitmap of a nullable column and the
// header of an extended block (cfile/FORMAT.md, Nullable blocks and Extended blocks).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {

// The parts of a data block. Spans point into the block's bytes. Only a nullable block has num_rows
// and validity. Only extended and movable blocks have present_count, first_ordinal, body_ordinal
// and skip_table.
struct DataBlock {
  std::optional<uint32_t> num_rows;       // nulls included
  std::span<const uint8_t> validity;      // the encoded null bitmap
  Encoding encoding = Encoding::kPlain;   // of the values
  std::optional<uint32_t> present_count;  // the number of encoded values, without nulls
  std::optional<uint32_t> first_ordinal;  // the ordinal of the block's first row
  // The first ordinal that the values must store, if they have one, as in some encodings of Kudu.
  uint32_t body_ordinal = 0;
  std::span<const uint8_t> skip_table;  // empty: the block has no skip table
  std::span<const uint8_t> values;      // the encoded present values
};

// Splits `bytes`, a block that is not movable, into its parts. `encoding`: the column's encoding;
// an extended block may name another encoding. kDataLoss: a length exceeds the bytes of the block.
absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, bool nullable,
                                         bool extended, Encoding encoding);

// Checks of a block's rows, for all readers of blocks. kDataLoss if a block that should begin with
// row `expected` begins with row `found`, or if the rows of a block end at `end`, beyond the
// footer's `num_rows`.
absl::Status CheckFirstOrdinal(uint64_t expected, uint64_t found);
absl::Status CheckEndOrdinal(uint64_t end, uint64_t num_rows);

// kDataLoss if `bytes` is not a block of a Bloom filter file.
absl::Status CheckBloomFilter(std::span<const uint8_t> bytes);

// Appends the row count and the null bitmap of a block, and resets `validity` for the next block.
void AppendValidity(encodings::ValidityEncoder& validity, encodings::ByteWriter& out);

// Appends the header of an extended block.
void AppendExtendedHeader(Encoding encoding, uint32_t present_count, uint64_t first_ordinal,
                          std::span<const uint8_t> skip_table, encodings::ByteWriter& out);

}  // namespace cfile::internal
