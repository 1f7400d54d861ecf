#include "cfile/core/format/data_block.h"

#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::ByteReader;
using encodings::ByteWriter;

absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, bool nullable,
                                         bool extended, Encoding encoding) {
  DataBlock block{.encoding = encoding};
  ByteReader reader(bytes);
  if (nullable) {
    uint32_t num_rows;
    if (!reader.ReadVint32(num_rows))
      return DataLoss("the row count of a nullable block is cut off or too large");
    block.num_rows = num_rows;
    if (!reader.ReadLengthPrefixed(block.validity)) {
      return DataLoss("the null bitmap runs past the end of the block at byte ", bytes.size());
    }
  }
  if (extended) {
    uint32_t number, present_count, first_ordinal;
    if (!reader.ReadVint32(number) || !reader.ReadVint32(present_count) ||
        !reader.ReadVint32(first_ordinal) || !reader.ReadLengthPrefixed(block.skip_table)) {
      return DataLoss("the header of an extended block is cut off at byte ", reader.offset(),
                      " of ", bytes.size());
    }
    block.encoding = static_cast<Encoding>(number);
    block.present_count = present_count;
    block.first_ordinal = block.body_ordinal = first_ordinal;
  }
  block.values = reader.rest();
  return block;
}

absl::Status CheckFirstOrdinal(uint64_t expected, uint64_t found) {
  if (found == expected) return absl::OkStatus();
  return DataLoss("expected the block of ordinal ", expected, ", found that of ordinal ", found);
}

absl::Status CheckEndOrdinal(uint64_t end, uint64_t num_rows) {
  if (end <= num_rows) return absl::OkStatus();
  return DataLoss("the block ends at ordinal ", end, ", the footer says ", num_rows, " rows");
}

absl::Status CheckBloomFilter(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  uint32_t size;
  if (!reader.ReadFixed(size) || !reader.Skip(size) || reader.empty()) {
    return DataLoss("the header of a Bloom filter runs past the end of its ", bytes.size(),
                    " bytes, or nothing follows the header");
  }
  return absl::OkStatus();
}

void AppendValidity(encodings::ValidityEncoder& validity, ByteWriter& out) {
  out.PutVint(validity.count());
  ByteWriter bitmap;
  validity.Finish(bitmap);
  out.PutLengthPrefixed(bitmap.span());
}

void AppendExtendedHeader(Encoding encoding, uint32_t present_count, uint64_t first_ordinal,
                          std::span<const uint8_t> skip_table, ByteWriter& out) {
  out.PutVint(static_cast<uint32_t>(encoding));
  out.PutVint(present_count);
  out.PutVint(static_cast<uint32_t>(first_ordinal));
  out.PutLengthPrefixed(skip_table);
}

}  // namespace cfile::internal
