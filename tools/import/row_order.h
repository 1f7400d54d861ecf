// Rows of a CSV file in the order of some of its columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/compound_key.h"
#include "cfile/table.h"
#include "tools/import/csv_input.h"
#include "tools/import/progress.h"

namespace cfile::tools {

// Computes the keys of rows. Thread-compatible.
class RowKey {
 public:
  // `columns`: columns of the file, the most significant first. `types`: the types of `columns`.
  RowKey(std::vector<size_t> columns, const std::vector<KeyColumn>& types)
      : columns_(std::move(columns)), types_(types), key_(types) {}

  // Returns the key of the record that input.reader() read last. The key is valid until the next
  // call. kInvalidArgument, with the line: a value of a key column is nan, not a text of the
  // column's type, or null although the key column is not nullable.
  absl::StatusOr<std::string_view> Of(CsvInput& input);

 private:
  template <typename T>
  absl::Status Add(CsvInput& input, size_t column, const KeyColumn& key);

  std::vector<size_t> columns_;
  std::vector<KeyColumn> types_;
  CompoundKey key_;
  std::string scratch_;
};

// Where a record of a file begins and ends, in bytes from the start of the text as
// CsvReader::offset() counts them.
struct RecordPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Returns the places of all rows in ascending order of their keys; rows with equal keys stay in the
// order of the file. Returns nullopt if the file already has this order; this check takes no memory
// per row. Errors: those of RowKey::Of; kCancelled if Progress::Cancel was called. Afterwards the
// position of `input` is undefined.
absl::StatusOr<std::optional<std::vector<RecordPlace>>> FindRowOrder(CsvInput& input,
                                                                     RowKey& row_key,
                                                                     Progress& progress);

}  // namespace cfile::tools
