#include "cfile/arrow_import.h"

#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cfile/parts/arrow/import_type.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::StrCat;

absl::Status NoColumn(const ImportField& field, std::string_view what) {
  return absl::UnimplementedError(StrCat(field.InField(), ": ", what));
}

// Returns the type in the metadata under cfile.type, if it can hold the values of the field.
ColumnType TypeOf(const ImportField& field) {
  const std::string* const text = field.FindMetadata("cfile.type");
  if (text != nullptr) {
    const absl::StatusOr<ColumnType> type = ColumnType::Parse(*text);
    if (type.ok() && CheckStorable(field.values(), *type).ok()) return *type;
  }
  return field.values().type;
}

// Appends the nodes of a field.
absl::Status AppendField(const ImportField& field, std::string name, Repetition repetition,
                         std::vector<RecordNode>& nodes) {
  const ImportField& values = field.values();
  const auto repetition_of = [](const ImportField& child) {
    return child.nullable ? Repetition::kOptional : Repetition::kRequired;
  };
  if (values.kind == ArrowKind::kNull) {
    return NoColumn(field, "no column can hold the type null without a type of its own");
  }
  if (values.kind == ArrowKind::kStruct) {
    if (values.children.empty()) return NoColumn(field, "no column can hold a struct of no fields");
    nodes.push_back({.name = std::move(name),
                     .repetition = repetition,
                     .num_children = values.children.size()});
    for (const ImportField& child : values.children)
      CFILE_RETURN_IF_ERROR(AppendField(child, child.name, repetition_of(child), nodes));
    return absl::OkStatus();
  }
  if (values.is_list()) {
    const ImportField& element = values.children[0];
    nodes.push_back({.name = std::move(name),
                     .repetition = repetition,
                     .kind = values.is_map ? GroupKind::kMap : GroupKind::kList,
                     .num_children = 1});
    if (!values.is_map) {
      nodes.push_back({.name = "list", .repetition = Repetition::kRepeated, .num_children = 1});
      return AppendField(element, "element", repetition_of(element), nodes);
    }
    const ImportField& value = element.children[1];
    if (const ImportField& key = element.children[0].values();
        key.is_list() || key.kind == ArrowKind::kStruct) {
      return NoColumn(field,
                      "no column can hold a map whose keys are structs or lists; write a list of "
                      "structs with a key and a value");
    }
    nodes.push_back({.name = "key_value", .repetition = Repetition::kRepeated, .num_children = 2});
    CFILE_RETURN_IF_ERROR(AppendField(element.children[0], "key", Repetition::kRequired, nodes));
    return AppendField(value, "value", repetition_of(value), nodes);
  }
  nodes.push_back({.name = std::move(name), .repetition = repetition, .type = TypeOf(field)});
  return absl::OkStatus();
}

// Sets the key columns: those with the positions 0, 1, 2 and so on in the key, up to the first
// missing one.
absl::Status SetKeys(const ImportField& root, Schema& schema) {
  std::map<uint32_t, size_t> columns;
  for (size_t i = 0; i < root.children.size(); ++i) {
    const ImportField& field = root.children[i];
    const std::string* const text = field.FindMetadata("cfile.key");
    if (text == nullptr) continue;
    uint32_t position = 0;
    const char* const end = text->data() + text->size();
    if (const auto parsed = std::from_chars(text->data(), end, position);
        parsed.ec != std::errc() || parsed.ptr != end || !columns.emplace(position, i).second) {
      return absl::InvalidArgumentError(StrCat(field.InField(),
                                               ": its position in the key, cfile.key, is \"", *text,
                                               "\", which is not a number or occurs twice"));
    }
  }
  for (const auto& [position, column] : columns) {
    if (position != schema.key_columns.size()) break;
    schema.key_columns.push_back(column);
    const std::string* const last = root.children[column].FindMetadata("cfile.nulls_last");
    if (last != nullptr && *last == "true" && schema.columns[column].nullable)
      schema.nulls_last.push_back(column);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace internal

absl::StatusOr<Schema> ImportArrowSchema(const ArrowSchema& arrow, const RecordLimits& limits) {
  CFILE_ASSIGN_OR_RETURN(const internal::ImportField root,
                         internal::ReadArrowSchema(arrow, limits.max_depth, limits.max_nodes));
  if (root.kind != internal::ArrowKind::kStruct)
    return internal::NoColumn(root, "the schema of a table must be a struct");
  std::vector<RecordNode> nodes;
  CFILE_RETURN_IF_ERROR(internal::AppendField(root, "record", Repetition::kRequired, nodes));
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, RecordSchema::Create(std::move(nodes), limits));
  Schema schema = Schema::OfRecords(tree);
  const bool flat = tree.nodes().size() == 1 + schema.columns.size();
  if (flat) {
    schema.tree.reset();
    CFILE_RETURN_IF_ERROR(internal::SetKeys(root, schema));
  }
  return schema;
}

}  // namespace cfile
