// The schema of Arrow in the key-value metadata of a Parquet file: a message of Arrow IPC in
// Base64. It says what Parquet's types do not say: time zones, dictionaries, durations, extension
// types.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/core/format/metadata_keys.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"

namespace cfile::internal {

// What the schema of Arrow says about a leaf of the Parquet schema.
struct ArrowLeaf {
  std::string time_zone;       // "": none
  bool is_dictionary = false;  // libraries of Arrow read the values as a dictionary
};

// Returns one ArrowLeaf for each leaf, or none if the text is not a schema of Arrow with
// `num_leaves` leaves: Parquet files need no schema of Arrow.
std::vector<ArrowLeaf> ArrowLeavesOf(std::string_view text, size_t num_leaves);

}  // namespace cfile::internal
