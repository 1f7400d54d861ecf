#include "cfile/parts/arrow/column_tree.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// This is more than the maximum of any valid schema.
constexpr RecordLimits kNoLimits{.max_depth = 1000,
                                 .max_leaves = SIZE_MAX,
                                 .max_nodes = SIZE_MAX,
                                 .max_path_size_bytes = SIZE_MAX};

absl::Status AppendNodes(const ColumnSchema& column, std::vector<RecordNode>& nodes) {
  const size_t lists = column.levels.max_repetition;
  size_t optional = column.has_levels() ? column.levels.max_definition - lists : column.nullable;
  if (lists > column.levels.max_definition || optional > lists + 1) {
    return absl::UnimplementedError(
        encodings::StrCat("column ", column.name, " has no Arrow type: its maximum levels are ",
                          column.levels.max_repetition, " and ", column.levels.max_definition));
  }
  // In an array column of Kudu, the elements may be null even if the arrays may not.
  bool next_required = column.levels.kudu_array && optional == 1;
  const auto repetition = [&] {
    if (optional == 0 || std::exchange(next_required, false)) return Repetition::kRequired;
    --optional;
    return Repetition::kOptional;
  };
  for (size_t i = 0; i < lists; ++i) {
    nodes.push_back({.name = i == 0 ? column.name : "element",
                     .repetition = repetition(),
                     .kind = GroupKind::kList,
                     .num_children = 1});
    nodes.push_back({.name = "list", .repetition = Repetition::kRepeated, .num_children = 1});
  }
  nodes.push_back({.name = lists == 0 ? column.name : "element",
                   .repetition = repetition(),
                   .type = column.type});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecordSchema> ColumnTree(const Schema& schema) {
  if (schema.tree) return *schema.tree;
  std::vector<RecordNode> nodes = {{.name = "record", .num_children = schema.columns.size()}};
  for (const ColumnSchema& column : schema.columns)
    CFILE_RETURN_IF_ERROR(AppendNodes(column, nodes));
  return RecordSchema::Create(std::move(nodes), kNoLimits);
}

}  // namespace cfile::internal
