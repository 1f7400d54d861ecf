// Describes a block of vectors (vector_table.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// Describes a block of vectors, which begins with a table of one `Entry` for each vector
// (VectorTable). describe_rest() adds the fields of a table entry that follow the vector's offset.
// describe_vector(entry, count, text) adds the fields of a vector of `count` values; `text` is the
// vector's name for fields and errors. Both return an absl::Status. If the description becomes
// full, the remaining entries, or the remaining vectors, are added as one field.
template <typename Entry, typename DescribeRest, typename DescribeVector>
absl::Status DescribeVectors(const BlockView& block, BlockDescription& description,
                             const DescribeRest& describe_rest,
                             const DescribeVector& describe_vector) {
  const uint32_t vectors = VectorsOf(block.count);
  const uint64_t table_bytes = uint64_t{vectors} * Entry::kBytes;
  if (table_bytes > block.bytes.size()) {
    return DataLoss("the table of ", vectors, " vectors takes ", table_bytes, " bytes, found ",
                    block.bytes.size());
  }
  uint32_t described = 0;
  for (; described < vectors && !description.full(); ++described) {
    CFILE_RETURN_IF_ERROR(description.AddFixed32("offset of the vector").status());
    description.BeginStructure();
    CFILE_RETURN_IF_ERROR(describe_rest());
    description.EndStructure();
  }
  CFILE_RETURN_IF_ERROR(
      description.AddBytes(table_bytes - uint64_t{described} * Entry::kBytes, "further entries"));
  uint32_t i = 0;
  for (; i < vectors && !description.full(); ++i) {
    const Entry entry = Entry::Load(block.bytes.data() + size_t{i} * Entry::kBytes);
    if (entry.offset != description.reader().offset()) {
      return DataLoss("vector ", i, " is at byte ", entry.offset, ", expected ",
                      description.reader().offset());
    }
    const size_t count = std::min<size_t>(kVectorValues, block.count - i * kVectorValues);
    CFILE_RETURN_IF_ERROR(
        describe_vector(entry, count, StrCat("vector ", i, ", ", count, " values")));
  }
  if (i < vectors) description.AddRest("further vectors");
  return absl::OkStatus();
}

}  // namespace cfile::encodings
