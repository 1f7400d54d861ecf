#include "cfile/schema.h"

#include <algorithm>
#include <utility>

namespace cfile {

Schema Schema::OfRecords(const RecordSchema& tree) {
  Schema schema{.tree = tree};
  for (const size_t leaf : tree.leaves()) {
    const RecordNode& node = tree.node(leaf);
    ColumnSchema column{.name = tree.Path(leaf), .type = node.type};
    if (node.max_repetition > 0 || node.max_definition > 1) {
      column.levels = {.max_repetition = node.max_repetition,
                       .max_definition = node.max_definition};
    } else {
      column.nullable = node.max_definition == 1;
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

absl::StatusOr<RecordSchema> Schema::Records(const RecordLimits& limits) const {
  if (tree.has_value()) return *tree;
  std::vector<RecordNode> nodes = {{.name = "record", .num_children = columns.size()}};
  for (const ColumnSchema& column : columns) {
    nodes.push_back({.name = column.name,
                     .repetition = column.nullable ? Repetition::kOptional : Repetition::kRequired,
                     .type = column.type});
  }
  return RecordSchema::Create(std::move(nodes), limits);
}

std::optional<size_t> Schema::Find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<KeyColumn> Schema::key_types() const {
  std::vector<KeyColumn> types;
  for (const size_t column : key_columns) {
    types.push_back({.type = columns[column].type,
                     .nullable = columns[column].nullable,
                     .nulls_last = std::find(nulls_last.begin(), nulls_last.end(), column) !=
                                   nulls_last.end()});
  }
  return types;
}

}  // namespace cfile
