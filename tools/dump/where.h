// Finds the rows that match `--where`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// The rows of one column that match one condition.
class ConditionScan {
 public:
  virtual ~ConditionScan() = default;

  // The first matching row at or after `ordinal`; nullopt: there is none. Precondition: `ordinal`
  // is not less than in the previous call.
  virtual absl::StatusOr<std::optional<uint64_t>> AtOrAfter(uint64_t ordinal) = 0;
};

// The rows of a file or table that match all conditions, in ascending order.
class RowFinder {
 public:
  // Finds rows from `first_ordinal` on. `where` has the grammar of tools/dump/where_parser.h;
  // values have the form of tools/value_text.h. The column of a file is called value. `input` must
  // outlive the finder. kInvalidArgument, with the position in `where`: a syntax error, or a
  // condition that does not fit its column.
  static absl::StatusOr<RowFinder> Open(const Input& input, std::string_view where,
                                        uint64_t first_ordinal);

  // The ordinal of the next row; nullopt at the end.
  absl::StatusOr<std::optional<uint64_t>> Next();

 private:
  RowFinder(std::vector<std::unique_ptr<ConditionScan>> scans, uint64_t first_ordinal)
      : scans_(std::move(scans)), next_(first_ordinal) {}

  std::vector<std::unique_ptr<ConditionScan>> scans_;
  uint64_t next_;
};

}  // namespace cfile::tools
