// Describes the bytes of stored blocks and of data blocks, field by field.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/file_layout.h"

namespace cfile::internal {

// The name of the field that has the data of a block that is not movable.
inline constexpr std::string_view kStoredData = "data";

// Returns the fields of `stored`, a block as it is in the file that `info` describes. `format`: how
// the block is stored.
std::vector<BlockField> StoredFields(const FileInfo& info, const BlockFormat& format,
                                     std::span<const uint8_t> stored);

// Sets the encoding and the fields of `block`, a data block, from its bytes before compression.
// `max_fields`: as for DescribeRegion.
absl::Status DescribeDataBlock(const FileInfo& info, size_t max_fields, RegionDetails& block);

// Returns the error that readers report when they open the data block.
absl::Status CheckDataBlock(FileReader& file, const RegionDetails& block);

}  // namespace cfile::internal
