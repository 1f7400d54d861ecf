// The keys of metadata pairs that are reserved for the library (cfile/FORMAT.md, Messages).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// All keys that begin with kReservedKeyPrefix are reserved. The library writes only one pair, into
// the header: its key is kColumnKey, its value is a serialized ColumnPB.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";
inline constexpr std::string_view kColumnKey = "cfile.column";

// kInvalidArgument: `key` is reserved, so a user's pair must not have this key.
inline absl::Status CheckMetadataKey(std::string_view key) {
  if (!key.starts_with(kReservedKeyPrefix)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      encodings::StrCat("metadata key ", key, " is reserved: it begins with \"cfile.\""));
}

}  // namespace cfile::internal
