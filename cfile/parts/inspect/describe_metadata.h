// Describes the bytes of header, footer, index nodes, dictionary and statistics, field by field.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/file_info.h"
#include "cfile/file_layout.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Sets the fields and the status of `end`, a header or a footer, from its stored bytes. A header
// has a checksum if bytes follow its message, a footer if `checksum` is true. `max_fields`: as for
// DescribeRegion.
void DescribeEnd(bool checksum, size_t max_fields, RegionDetails& end);

// Adds the fields of an index node, a dictionary or statistics, before compression.
// Precondition: `kind` is one of these. kDataLoss: the block is malformed.
absl::Status DescribeMetadataBlock(FileReader& file, RegionKind kind,
                                   encodings::BlockDescription& description);

// Adds the next bytes of `description`, a stored checksum, and says whether it is the checksum of
// `bytes`.
absl::Status AddChecksum(std::string_view name, std::span<const uint8_t> bytes,
                         encodings::BlockDescription& description);

}  // namespace cfile::internal
