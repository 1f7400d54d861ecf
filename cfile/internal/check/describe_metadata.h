// Describes the bytes of header, footer, index nodes, dictionary and statistics, field by field.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/file_info.h"
#include "cfile/file_layout.h"
#include "cfile/internal/read/file_reader.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Add the fields of a header or a footer. `bytes`: all its bytes; `description` describes them. If
// bytes follow the header's message, the first ones are its checksum. kDataLoss: the bytes are not
// a header or a footer.
absl::Status DescribeHeader(std::span<const uint8_t> bytes,
                            encodings::BlockDescription& description);
absl::Status DescribeFooter(bool has_checksum, std::span<const uint8_t> bytes,
                            encodings::BlockDescription& description);

// Adds the fields of an index node, a dictionary or statistics, before compression.
// Precondition: `kind` is one of these. kDataLoss: the block is malformed.
absl::Status DescribeMetadataBlock(FileReader& file, RegionKind kind,
                                   encodings::BlockDescription& description);

// Returns the value of a checksum field as text. `found`: the checksum of the bytes.
// `expected`: the stored checksum.
std::string RightOrWrong(uint32_t found, uint32_t expected);

}  // namespace cfile::internal
