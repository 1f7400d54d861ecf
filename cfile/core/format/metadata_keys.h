// The keys of metadata pairs that are reserved for the library (cfile/FORMAT.md, Messages).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/file_info.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// All keys that begin with kReservedKeyPrefix are reserved. The library writes only one pair, into
// the header: its key is kColumnKey, its value is a serialized ColumnPB.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";
inline constexpr std::string_view kColumnKey = "cfile.column";

// The key of the annotation of Parquet that a column's file keeps (annotation.h).
inline constexpr std::string_view kAnnotationKey = "PARQUET:logical_type";

// The key of a schema of Arrow IPC in Base64, as in Parquet files. It describes the whole table.
inline constexpr std::string_view kArrowSchema = "ARROW:schema";

using MetadataPairs = std::vector<std::pair<std::string, std::string>>;

// Returns the pairs of a file that describe its whole table, if its column is the first one.
inline MetadataPairs TablePairs(const FileInfo& info) {
  MetadataPairs pairs = info.header_metadata;
  pairs.insert(pairs.end(), info.footer_metadata.begin(), info.footer_metadata.end());
  std::erase_if(pairs, [](const auto& pair) {
    return pair.first.starts_with(kReservedKeyPrefix) || pair.first == kAnnotationKey;
  });
  return pairs;
}

// kInvalidArgument: `key` is reserved, so a user's pair must not have this key.
inline absl::Status CheckMetadataKey(std::string_view key) {
  if (!key.starts_with(kReservedKeyPrefix)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("metadata key ", key, " is reserved: it begins with \"cfile.\""));
}

}  // namespace cfile::internal
