// The columns of a table (cfile/table.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

struct ColumnSchema {
  std::string name;
  ColumnType type;
  bool nullable = false;
  // The limits of a leaf column of nested records that is stored with levels; otherwise both maxima
  // are 0.
  LevelLimits levels = {};

  bool has_levels() const { return levels.max_repetition > 0 || levels.max_definition > 0; }
  friend bool operator==(const ColumnSchema&, const ColumnSchema&) = default;
};

// A column of compound keys (cfile/compound_key.h).
struct KeyColumn {
  ColumnType type;
  bool nullable = false;
  bool nulls_last = false;  // true: nulls sort after all values; false: before all values
};

// Says that a new row replaces older rows with the same key: readers return only the newest row of
// each key, which is in the last part that has the key. They return no row if the newest row says
// that the key was deleted, or is too old (cfile/CONCEPTS.md, Merge rules). The rows of one part
// must have different keys.
struct MergeRule {
  // A column of type bool: true in the newest row of a key means that the key was deleted. Null
  // counts as false.
  std::optional<size_t> deleted_column = {};
  // A column that is stored as int32 or int64, for example a date or a timestamp. The newest row of
  // a key is too old if its value is below TableReader::time_bound.
  std::optional<size_t> time_column = {};
  friend bool operator==(const MergeRule&, const MergeRule&) = default;
};

// The columns of a table, in order. Names are unique and not empty.
struct CFILE_EXPORT Schema {
  std::vector<ColumnSchema> columns;
  // For rows that are sorted and searched by one or several columns: the positions of these columns
  // in `columns`, the most significant first. A key column must not be of type int96 and must not
  // have levels. TableWriter::Finish makes the compound keys, a further column (key_index()), from
  // the key columns. To save time, a caller that already has them may append them; Finish and
  // TableReader::VerifyColumn check them.
  std::vector<size_t> key_columns = {};
  // The nullable key columns whose nulls sort after all values: positions in `columns`, in any
  // order. The nulls of other nullable key columns sort before all values. Older versions of this
  // library refuse tables with nullable key columns.
  std::vector<size_t> nulls_last = {};
  // The rule for rows with equal keys; nullopt: all rows count. A table with a rule has key
  // columns, none of which holds floats. The columns of the rule have no levels and are no key
  // columns. Older versions of this library refuse tables with a rule.
  std::optional<MergeRule> merge_rule = {};
  // For rows that are records: the tree whose leaf columns are the columns.
  std::optional<RecordSchema> tree = {};

  // Returns the schema of a table of records: one column for each leaf column of `tree`, named by
  // its path. A column that is repeated or has more than one definition level gets levels.
  static Schema OfRecords(const RecordSchema& tree);
  // Returns `tree`; for a table without a tree, a schema with one leaf column for each column.
  absl::StatusOr<RecordSchema> Records(const RecordLimits& limits = {}) const;

  // The column number of the key index; nullopt without key columns. With key columns, each part
  // has one more file: the compound keys (cfile/compound_key.h) of its rows, as a column of type
  // binary.
  std::optional<size_t> key_index() const {
    return key_columns.empty() ? std::nullopt : std::optional<size_t>(columns.size());
  }
  // True if the merge rule names the column.
  bool IsOfRule(size_t column) const {
    return merge_rule &&
           (column == merge_rule->deleted_column || column == merge_rule->time_column);
  }
  // The key columns as CompoundKey and CompoundKeyReader expect them.
  std::vector<KeyColumn> key_types() const;

  // The position of the column with this name; nullopt if there is none.
  std::optional<size_t> Find(std::string_view name) const;
  friend bool operator==(const Schema&, const Schema&) = default;
};

}  // namespace cfile
