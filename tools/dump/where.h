// The rows that match `--where`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// Ordinals of the file's or table's rows, ascending.
class RowFinder {
 public:
  virtual ~RowFinder() = default;

  // The next ones, valid until the next call; none at the end.
  virtual absl::StatusOr<std::span<const uint64_t>> Next() = 0;
};

// `where`: COLUMN, =, !=, <, <=, >, >= or begins, and a value as `find` takes it, with blanks
// between; or COLUMN, then "is null" or "is not null". The column of a file is called value.
// kInvalidArgument: `where` is nothing like that, or the column does not go with it. `input` must
// outlive the finder.
absl::StatusOr<std::unique_ptr<RowFinder>> NewRowFinder(const Input& input,
                                                        const std::string& where,
                                                        uint64_t first_ordinal);

}  // namespace cfile::tools
