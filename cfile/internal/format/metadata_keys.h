// The keys of header and footer pairs that belong to the library (cfile/FORMAT.md, Messages).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Keys that begin with this prefix are reserved. The library writes one of them into the header,
// kColumnKey: a serialized ColumnPB.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";
inline constexpr std::string_view kColumnKey = "cfile.column";

// kInvalidArgument if a user's pair may not have this key, because it is reserved.
inline absl::Status CheckMetadataKey(std::string_view key) {
  if (!key.starts_with(kReservedKeyPrefix)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      encodings::StrCat("metadata key ", key, " is reserved: it begins with \"cfile.\""));
}

}  // namespace cfile::internal
