// cfile_cursor: a cursor of a file or a table, for values of any type.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/c.h"
#include "cfile/parts/c/value.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "cfile/untyped.h"

struct cfile_cursor {
  std::unique_ptr<cfile::internal::AnyCursor> cursor;
  cfile::ColumnType type;
  std::vector<cfile::KeyColumn> key_columns = {};  // empty unless this is a cursor of a key index
  // `taken` and `copies` hold the values of the last batch.
  cfile::internal::OwnedValues taken{cfile::encodings::LaneOf(type.physical())};
  cfile::internal::Copies<cfile_bytes> copies = {};
  bool broken = false;  // see CallOn
};

namespace cfile::internal {

// Returns the bytes of the compound key with these values, of all key columns or of the first ones.
// Precondition: not more values than columns.
absl::StatusOr<std::string> CompoundBytes(const std::vector<KeyColumn>& columns,
                                          std::span<const cfile_value> values);

}  // namespace cfile::internal
