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
#include "tools/import/csv_input.h"
#include "tools/progress.h"
#include "tools/time_format.h"

namespace cfile::tools {

// Computes the keys of rows. Thread-compatible.
class RowKey {
 public:
  // `columns`: columns of the file, the most significant first. `types`: the types of `columns`.
  // `text_types`: the same types, and the formats of the values in the file.
  RowKey(std::vector<size_t> columns, const std::vector<KeyColumn>& types,
         std::vector<TextType> text_types)
      : columns_(std::move(columns)),
        types_(types),
        text_types_(std::move(text_types)),
        key_(types) {}

  // The key of the record that input.reader() read last, valid until the next call.
  // kInvalidArgument, with the line: a field of a key column is nan, is not a value of the type, or
  // is a null that the column does not allow.
  absl::StatusOr<std::string_view> Of(CsvInput& input);

 private:
  template <typename T>
  absl::Status Add(CsvInput& input, size_t i);

  std::vector<size_t> columns_;
  std::vector<KeyColumn> types_;
  std::vector<TextType> text_types_;
  CompoundKey key_;
  std::string scratch_;
};

// True if the rows of the file are in ascending order of their keys. Afterwards the position of
// `input` is undefined. Errors: those of RowKey::Of, and kCancelled.
absl::StatusOr<bool> RowsAreInOrder(CsvInput& input, RowKey& row_key, Progress& progress);

// A row and its key.
struct KeyedRow {
  uint64_t first_bytes = 0;  // the key's first 8 bytes, big-endian; compared before `key`
  std::string_view key;
  RecordPlace place;
};

class KeyBytes {
 public:
  // Returns a copy of `key`, valid until Clear.
  std::string_view Copy(std::string_view key);
  void Clear() { chunks_.clear(); }

 private:
  std::vector<std::string> chunks_;
};

// Reads and sorts rows in portions that fit into the memory. Thread-compatible.
class RowSorter {
 public:
  // `memory_bytes`: for the text of the rows, for their keys and for their places in the file.
  RowSorter(RowKey row_key, size_t memory_bytes)
      : row_key_(std::move(row_key)), memory_bytes_(memory_bytes) {}

  // Takes the rows of the file from `begin` on, where a row begins, as many as fit into the memory,
  // and sorts them. Rows with equal keys stay in the order of the file. Errors as RowsAreInOrder.
  absl::Status Take(CsvInput& input, uint64_t begin, Progress& progress);

  std::span<const KeyedRow> rows() const { return rows_; }
  // Where the last row of the portion ends, in bytes from the start of the text.
  uint64_t end() const { return end_; }

 private:
  RowKey row_key_;
  const size_t memory_bytes_;
  std::vector<KeyedRow> rows_;
  KeyBytes key_bytes_;  // of rows_
  uint64_t end_ = 0;
};

}  // namespace cfile::tools
