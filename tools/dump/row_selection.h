// The options that choose columns, and rows by a condition.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/schema.h"
#include "cfile/table_scan.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// The columns and the condition that the user chose.
struct RowChoice {
  std::vector<std::string> columns = {};  // names of columns of a table; empty: all
  std::optional<std::string> where = {};  // in the grammar of cfile/filter.h
};

// A scan of the chosen rows.
struct RowSelection {
  TableScanOptions options;
  std::vector<ColumnSchema> columns;  // of the batches
  // With a limit: how many more rows may be returned. Copies of the selection share the number.
  std::shared_ptr<uint64_t> rows_left = {};

  absl::StatusOr<TableScan> NewScan(const Input& input) const;
};

// The column of a file is called "value". kInvalidArgument: there is no such column, a chosen
// column is nested, or the condition is wrong.
absl::StatusOr<RowSelection> SelectRows(const Input& input, const RowChoice& choice);

// The condition of --where; Filter() if there is none. kInvalidArgument: the condition is wrong.
absl::StatusOr<Filter> FilterOf(const RowChoice& choice, const Schema& schema);

// Adds the options --columns and --where, and returns --columns. Its value is a list of names in
// the form of ParseNames (cfile/filter.h); the option may be given several times. An empty
// --where is an error of FilterOf.
Option& AddRowChoiceOptions(Command& command, RowChoice& choice);
void AddWhereOption(Command& command, RowChoice& choice);

}  // namespace cfile::tools
