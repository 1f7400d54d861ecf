// What stands before the encoded values of a data block: the null bitmap of a nullable column, the
// header of an extended block (cfile/FORMAT.md, Nullable blocks and Extended blocks).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "encodings/bytes.h"
#include "encodings/validity.h"

namespace cfile::internal {

// A data block taken apart. Spans point into the block's bytes.
struct DataBlock {
  std::optional<uint32_t> num_rows;       // of a nullable block: rows, nulls included
  std::span<const uint8_t> validity;      // of a nullable block: the encoded bitmap
  Encoding encoding = Encoding::kPlain;   // of the values
  std::optional<uint32_t> present_count;  // of an extended block: values, nulls left out
  std::optional<uint32_t> first_ordinal;  // of an extended block
  std::span<const uint8_t> skip_table;    // of an extended block; empty = none
  std::span<const uint8_t> values;        // the encoded present values
};

// Takes `bytes` apart. `encoding`: the column's, which an extended block may override. kDataLoss:
// lengths do not fit.
absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, bool nullable,
                                         bool extended, Encoding encoding);

// kDataLoss if `bytes` is no block of a file of Bloom filters.
absl::Status CheckBloomFilter(std::span<const uint8_t> bytes);

// Appends the null bitmap's part of a block and begins a new bitmap.
void AppendValidity(encodings::ValidityEncoder& validity, encodings::ByteWriter& out);

// Appends the header of an extended block.
void AppendExtendedHeader(Encoding encoding, uint32_t present_count, uint64_t first_ordinal,
                          std::span<const uint8_t> skip_table, encodings::ByteWriter& out);

}  // namespace cfile::internal
