#include "cfile/parts/parquet/common_schema.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::StrCat;

namespace {

// The repetition of a leaf.
Repetition RepetitionOf(const Schema& schema, size_t column) {
  if (schema.tree) return schema.tree->leaf(column).repetition;
  return schema.columns[column].nullable ? Repetition::kOptional : Repetition::kRequired;
}

std::string NameOf(Repetition repetition) {
  return repetition == Repetition::kRepeated   ? "repeated"
         : repetition == Repetition::kOptional ? "optional"
                                               : "required";
}

}  // namespace

template <typename Change>
absl::Status CommonSchema::ChangeLeaf(size_t column, Change change) {
  if (!schema_.tree) return absl::OkStatus();
  std::vector<RecordNode> nodes(schema_.tree->nodes().begin(), schema_.tree->nodes().end());
  change(nodes[schema_.tree->leaves()[column]]);
  CFILE_ASSIGN_OR_RETURN(schema_.tree, RecordSchema::Create(std::move(nodes), limits_));
  return absl::OkStatus();
}

absl::Status CommonSchema::Add(const ParquetFileImport& file, const std::string& path) {
  const Schema& schema = file.schema();
  if (first_path_.empty()) {
    first_path_ = path;
    schema_ = schema;
    for (size_t i = 0; i < schema.columns.size(); ++i)
      types_.push_back({.only_nulls = file.HasOnlyNulls(i), .path = path});
    return absl::OkStatus();
  }
  const auto differs = [&](const std::string& column, const std::string& here,
                           const std::string& first) {
    return absl::InvalidArgumentError(
        StrCat(path, ": column ", column, " is ", here, ", but ", first, " in ", first_path_));
  };
  for (size_t leaf_number = 0; leaf_number < schema.columns.size(); ++leaf_number) {
    const ColumnSchema& column = schema.columns[leaf_number];
    const std::optional<size_t> found = schema_.Find(column.name);
    if (!found && !schema_.tree && !schema.tree) {
      schema_.columns.push_back(column);
      schema_.columns.back().nullable = true;
      types_.push_back({.only_nulls = file.HasOnlyNulls(leaf_number), .path = path});
      continue;
    }
    if (!found) return differs(column.name, column.type.ToString(), "there is none");
    CFILE_RETURN_IF_ERROR(Widen(file, path, leaf_number, *found));
    const std::string here = GroupsAround(schema, leaf_number);
    const std::string there = GroupsAround(schema_, *found);
    if (here != there) {
      return absl::InvalidArgumentError(
          StrCat(path, ": the groups around column ", column.name, " are (", here, "), but (",
                 there, ") in ", first_path_, "; all files must have the same groups"));
    }
    const Repetition leaf = RepetitionOf(schema, leaf_number);
    const Repetition first_leaf = RepetitionOf(schema_, *found);
    if (leaf == first_leaf) continue;
    // In a group, the levels of all values would change.
    const bool repeats = leaf == Repetition::kRepeated || first_leaf == Repetition::kRepeated;
    if (repeats || !here.empty()) return differs(column.name, NameOf(leaf), NameOf(first_leaf));
    if (leaf != Repetition::kOptional) continue;
    schema_.columns[*found].nullable = true;
    CFILE_RETURN_IF_ERROR(
        ChangeLeaf(*found, [](RecordNode& node) { node.repetition = Repetition::kOptional; }));
  }
  for (ColumnSchema& column : schema_.columns) {
    if (schema.Find(column.name)) continue;
    if (schema_.tree) return differs(column.name, "missing", column.type.ToString());
    column.nullable = true;
  }
  if (!HasSameGroups(schema)) {
    return absl::InvalidArgumentError(
        StrCat(path, ": the groups of the schema are not those of ", first_path_));
  }
  return absl::OkStatus();
}

absl::Status CommonSchema::AddFolders(std::span<const ColumnSchema> columns,
                                      const std::string& directory) {
  std::vector<RecordNode> nodes;
  if (schema_.tree) nodes.assign(schema_.tree->nodes().begin(), schema_.tree->nodes().end());
  for (const ColumnSchema& column : columns) {
    if (schema_.Find(column.name)) {
      return absl::InvalidArgumentError(
          StrCat(directory, ": column ", column.name, " is in the files and in their folders"));
    }
    schema_.columns.push_back(column);
    if (nodes.empty()) continue;
    ++nodes[0].num_children;
    nodes.push_back({.name = column.name,
                     .repetition = column.nullable ? Repetition::kOptional : Repetition::kRequired,
                     .type = column.type});
  }
  if (nodes.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(schema_.tree,
                         Named(RecordSchema::Create(std::move(nodes), limits_), directory));
  return absl::OkStatus();
}

// Gives the column `known` of schema_ a type that also holds the values of `column` of the file.
absl::Status CommonSchema::Widen(const ParquetFileImport& file, const std::string& path,
                                 size_t column, size_t known) {
  const ColumnType& here = file.schema().columns[column].type;
  const ColumnType first = schema_.columns[known].type;
  FoundType& found = types_[known];
  if (HasSameValues(first, here)) {
    found.only_nulls = found.only_nulls && file.HasOnlyNulls(column);
    return absl::OkStatus();
  }
  if (file.HasOnlyNulls(column)) return absl::OkStatus();
  std::optional<ColumnType> common = here;
  if (!found.only_nulls) common = CommonType(first, here);
  if (!common) common = CommonType(here, first);
  if (!common) {
    return absl::InvalidArgumentError(StrCat(path, ": column ", schema_.columns[known].name, " is ",
                                             here.ToString(), ", but ", first.ToString(), " in ",
                                             found.path, ", and no type holds the values of both"));
  }
  if (*common == first) return absl::OkStatus();
  found = {.path = path};
  schema_.columns[known].type = *common;
  return ChangeLeaf(known, [&](RecordNode& leaf) { leaf.type = *common; });
}

// True if the tree of `schema` is that of schema_, apart from columns that may have nulls there.
bool CommonSchema::HasSameGroups(const Schema& schema) const {
  if (!schema.tree || !schema_.tree) return schema.tree == schema_.tree;
  return std::equal(
      schema.tree->nodes().begin(), schema.tree->nodes().end(), schema_.tree->nodes().begin(),
      schema_.tree->nodes().end(), [](const RecordNode& a, const RecordNode& b) {
        return a.name == b.name && a.kind == b.kind && a.num_children == b.num_children;
      });
}

}  // namespace cfile::internal
