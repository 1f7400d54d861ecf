// Rows of a CSV file in the order of some of its columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/compound_key.h"
#include "cfile/table.h"
#include "tools/import/csv_input.h"
#include "tools/progress.h"

namespace cfile::tools {

// Computes the keys of rows. Thread-compatible.
class RowKey {
 public:
  // `columns`: columns of the file, the most significant first. `types`: the types of `columns`.
  RowKey(std::vector<size_t> columns, const std::vector<KeyColumn>& types)
      : columns_(std::move(columns)), types_(types), key_(types) {}

  // Returns the key of the record that input.reader() read last. The key is valid until the next
  // call. kInvalidArgument, with the line, if a field of a key column has one of these faults:
  // - The field is nan.
  // - The field is not a value of the column's type.
  // - The field is null, but the key column is not nullable.
  absl::StatusOr<std::string_view> Of(CsvInput& input);

 private:
  template <typename T>
  absl::Status Add(CsvInput& input, size_t column, const KeyColumn& key);

  std::vector<size_t> columns_;
  std::vector<KeyColumn> types_;
  CompoundKey key_;
  std::string scratch_;
};

// Where a record of a file begins and ends, in bytes from the start of the text
// (CsvReader::offset).
struct RecordPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Returns true if the rows of the file are in ascending order of their keys.
// Stops at the first row that is out of order.
// After the call, the position of `input` is undefined.
// Errors: those of RowKey::Of, and kCancelled if Progress::Cancel was called.
absl::StatusOr<bool> RowsAreInOrder(CsvInput& input, RowKey& row_key, Progress& progress);

// A row and its key.
struct KeyedRow {
  uint64_t first_bytes = 0;  // the key's first 8 bytes, big-endian; compared before `key`
  std::string_view key;
  RecordPlace place;
};

// Reads and sorts rows in portions. A portion has as many rows as fit into the memory.
// Thread-compatible.
class RowSorter {
 public:
  // `memory_bytes`: the memory for the text of the rows, for their keys and for their places in
  // the file.
  RowSorter(RowKey row_key, size_t memory_bytes)
      : row_key_(std::move(row_key)), memory_bytes_(memory_bytes) {}

  // Forgets the rows of the portion before. Takes rows of the file from `begin` on, as many as fit
  // into the memory, and sorts these rows by their keys.
  // Rows with equal keys stay in the order of the file.
  // Precondition: a row begins at `begin`, or `begin` is the end of the file.
  // Errors: those of RowsAreInOrder.
  absl::Status Take(CsvInput& input, uint64_t begin, Progress& progress);

  std::span<const KeyedRow> rows() const { return rows_; }
  // Where the last row of the portion ends, in bytes from the start of the text.
  uint64_t end() const { return end_; }

 private:
  std::string_view Copy(std::string_view key);

  RowKey row_key_;
  const size_t memory_bytes_;
  std::vector<KeyedRow> rows_;
  std::vector<std::string> key_chunks_;  // the bytes of the keys of rows_
  uint64_t end_ = 0;
};

}  // namespace cfile::tools
