// The footer's incompatible feature bits (cfile/FORMAT.md, File).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "cfile/file_info.h"

namespace cfile::internal {

// kUnimplemented if `incompatible_features` has bits that this library does not know. The message
// begins with "the file needs" and names the unknown bits.
absl::Status CheckFeatures(uint32_t incompatible_features);

// True if a file with these numbers of its type, encoding and codec needs extended blocks
// (cfile/FORMAT.md, Extended blocks).
bool NeedsExtendedBlocks(uint32_t data_type, uint32_t encoding, uint32_t compression);
bool NeedsExtendedBlocks(const FileInfo& info);

// The footer's incompatible_features for the version, type, encoding and codec in `info`. `levels`:
// the file has levels, with the limits in `info`; `blocks_differ`: each block names its encoding.
uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ);

}  // namespace cfile::internal
