// Describes the table at the front of a block of vectors (vector_table.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// Describes the table of `vectors` entries of `entry_bytes` bytes each. An entry begins with the
// offset of its vector. `describe_rest` describes the other fields of an entry, and returns an
// absl::Status. If the description becomes full, the other entries are described as one field.
template <typename DescribeRest>
absl::Status DescribeVectorTable(const BlockView& block, uint32_t vectors, size_t entry_bytes,
                                 BlockDescription& description, DescribeRest describe_rest) {
  if (uint64_t{vectors} * entry_bytes > block.bytes.size()) {
    return DataLoss("the table of ", vectors, " vectors takes ", uint64_t{vectors} * entry_bytes,
                    " bytes, found ", block.bytes.size());
  }
  uint32_t described = 0;
  for (; described < vectors && !description.full(); ++described) {
    CFILE_RETURN_IF_ERROR(description.AddFixed32("offset of the vector").status());
    description.BeginStructure();
    CFILE_RETURN_IF_ERROR(describe_rest());
    description.EndStructure();
  }
  return description.AddBytes(uint64_t{vectors - described} * entry_bytes, "further entries");
}

}  // namespace cfile::encodings
