// Describes the bytes of header, footer, index nodes, dictionary and statistics, field by field.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/file_info.h"
#include "cfile/file_layout.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Add the fields of a header or a footer. `bytes`: all bytes of the header or the footer, which are
// also the bytes of `description`. A header has a checksum if bytes follow its message.
// kDataLoss: the bytes are not a header or a footer.
absl::Status DescribeHeader(std::span<const uint8_t> bytes,
                            encodings::BlockDescription& description);
absl::Status DescribeFooter(bool has_checksum, std::span<const uint8_t> bytes,
                            encodings::BlockDescription& description);

// Adds the fields of an index node, a dictionary or statistics, before compression.
// Precondition: `kind` is one of these. kDataLoss: the block is malformed.
absl::Status DescribeMetadataBlock(FileReader& file, RegionKind kind,
                                   encodings::BlockDescription& description);

// Returns a text that says whether a stored checksum is right. `expected`: the stored checksum.
// `found`: the checksum that was computed from the bytes.
std::string RightOrWrong(uint32_t found, uint32_t expected);

}  // namespace cfile::internal
