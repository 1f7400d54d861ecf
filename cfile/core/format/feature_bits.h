// The incompatible feature bits of a file's footer (cfile/FORMAT.md, File) and of table.cft
// (cfile/FORMAT.md, Table).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "cfile/file_info.h"

namespace cfile::internal {

// Bits of TablePB.incompatible_features.
inline constexpr uint32_t kTableFeatureChunks = 1u << 2;     // table.cft names chunks
inline constexpr uint32_t kTableFeatureColumnIds = 1u << 3;  // the columns have ids
inline constexpr uint32_t kTableFeatureMetadata = 1u << 5;   // table.cft has the table's metadata
inline constexpr uint32_t kTableFeaturePacked = 1u << 9;     // parts are packed into one file
// The table has a merge rule, with a column that says that a key was deleted, with a time column.
inline constexpr uint32_t kTableFeatureMergeRule = 1u << 10;
inline constexpr uint32_t kTableFeatureDeletedColumn = 1u << 11;
inline constexpr uint32_t kTableFeatureTimeColumn = 1u << 12;

// kUnimplemented if the `incompatible_features` of a file, or of a table, have bits that this
// library does not know. The message begins with "the file needs" or "the table needs" and names
// the unknown bits.
absl::Status CheckFeatures(uint32_t incompatible_features);
absl::Status CheckTableFeatures(uint32_t incompatible_features);

// The bit of a table with a nullable key column.
inline constexpr uint32_t kTableFeatureNullableKeys = 1u << 1;

// True if a file with these numbers of its type, encoding and codec needs extended blocks
// (cfile/FORMAT.md, Extended blocks).
bool NeedsExtendedBlocks(uint32_t data_type, uint32_t encoding, uint32_t compression);
bool NeedsExtendedBlocks(const FileInfo& info);

// kDataLoss if a feature bit is not set although the type, the encoding, the codec or another
// feature bit of `info` needs this bit (rules F22, F25, F27, F29 and F30 of cfile/FORMAT.md).
absl::Status CheckDependencies(const FileInfo& info);

// Returns the incompatible feature bits that a file needs if one of its blocks, or its footer, has
// this encoding: kFeatureOwnEncodings or 0.
uint32_t FeaturesOf(Encoding encoding);

// The footer's incompatible_features for the version, type, encoding and codec in `info`. `levels`:
// the file has levels, with the limits in `info`; `blocks_differ`: each block names its encoding;
// `movable`: the blocks are movable.
uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ, bool movable);

}  // namespace cfile::internal
