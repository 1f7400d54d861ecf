#include "cfile/parts/parquet/parquet_schema.h"

#include <algorithm>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/filter.h"
#include "cfile/parts/arrow/column_tree.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/parquet/arrow_description.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;
using encodings::StrCat;
using parquet::ConvertedType;
using parquet::FieldRepetitionType;
using parquet::SchemaElement;

// This is more than the maximum of any valid schema.
constexpr RecordLimits kNoLimits{.max_depth = 1000,
                                 .max_leaves = SIZE_MAX,
                                 .max_nodes = SIZE_MAX,
                                 .max_path_size_bytes = SIZE_MAX};

bool IsLeaf(const SchemaElement& element) { return element.num_children.value_or(0) == 0; }

bool IsRepeated(const SchemaElement& element) {
  return element.repetition_type == FieldRepetitionType::kRepeated;
}

absl::Status InColumn(const absl::Status& status, std::string_view name) {
  return WithMessage(status, StrCat("column ", name, ": ", status.message()));
}

// Takes names from a list, each of which must be taken.
class NameChoice {
 public:
  explicit NameChoice(std::span<const std::string> names)
      : names_(names), found_(names.size(), false) {}

  bool Take(std::string_view name) {
    known_.emplace_back(name);
    bool taken = names_.empty();
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) taken = found_[i] = true;
    }
    return taken;
  }
  absl::Status CheckAllTaken() const {
    const auto missing = std::find(found_.begin(), found_.end(), false);
    if (missing == found_.end()) return absl::OkStatus();
    const std::string& name = names_[static_cast<size_t>(missing - found_.begin())];
    return absl::InvalidArgumentError(
        StrCat("there is no column ", name, Suggestion(name, known_)));
  }
  std::vector<std::string>& known() { return known_; }

 private:
  const std::span<const std::string> names_;
  std::vector<bool> found_;
  std::vector<std::string> known_;
};

// Returns the kind of the group `elements[i]`.
GroupKind KindOf(std::span<const SchemaElement> elements, size_t i) {
  const SchemaElement& group = elements[i];
  const bool is_list = (group.logical_type && group.logical_type->list) ||
                       group.converted_type == ConvertedType::kList;
  // Early writers annotated maps with MAP_KEY_VALUE.
  const bool is_map = (group.logical_type && group.logical_type->map) ||
                      group.converted_type == ConvertedType::kMap ||
                      group.converted_type == ConvertedType::kMapKeyValue;
  if (!is_list && !is_map) return GroupKind::kPlain;
  if (group.num_children != 1 || i + 1 >= elements.size() || !IsRepeated(elements[i + 1]))
    return GroupKind::kPlain;
  const bool has_key = elements[i + 1].num_children == 2 && i + 2 < elements.size() &&
                       IsLeaf(elements[i + 2]) &&
                       elements[i + 2].repetition_type == FieldRepetitionType::kRequired;
  return is_map && has_key ? GroupKind::kMap : GroupKind::kList;
}

absl::StatusOr<RecordNode> NodeOf(std::span<const SchemaElement> elements, size_t i) {
  const SchemaElement& element = elements[i];
  RecordNode node{.name = std::string(element.name)};
  if (i > 0) {
    const int32_t repetition = element.repetition_type.value_or(-1);
    if (repetition < 0 || repetition > FieldRepetitionType::kRepeated)
      return DataLoss("its repetition is ", repetition, ", expected 0 to 2");
    node.repetition = static_cast<Repetition>(repetition);
  }
  if (element.type && IsLeaf(element)) {
    CFILE_ASSIGN_OR_RETURN(node.type, TypeFromParquet(element));
    return node;
  }
  if (element.type) return DataLoss("it has a type and fields");
  if (element.num_children.value_or(0) < 0)
    return DataLoss("it has ", *element.num_children, " fields");
  if (IsLeaf(element)) {
    return absl::UnimplementedError(i > 0 ? "a group without fields"
                                          : "a Parquet file without columns cannot be a table");
  }
  node.num_children = static_cast<size_t>(*element.num_children);
  if (i > 0) node.kind = KindOf(elements, i);
  return node;
}

// Reads the elements, and makes a tree of those that are taken.
class SchemaParser {
 public:
  SchemaParser(std::span<const SchemaElement> elements, std::span<const std::string> columns,
               std::vector<ArrowLeaf> arrow)
      : elements_(elements), choice_(columns), arrow_(std::move(arrow)) {}

  absl::StatusOr<SchemaOfParquet> Parse(const RecordLimits& limits, bool may_lack) {
    if (elements_.empty()) return DataLoss("the schema has no elements");
    if (elements_.size() > limits.max_nodes) {
      return encodings::OutOfRange("a schema of ", elements_.size(), " nodes is ",
                                   encodings::AboveLimit(limits.max_nodes, "max_nodes"));
    }
    for (size_t i = 0; i < elements_.size(); ++i) CFILE_RETURN_IF_ERROR(Add(i));
    if (!open_.empty())
      return DataLoss("the schema ends before the fields of ",
                      elements_[open_.back().element].name);
    if (!may_lack) CFILE_RETURN_IF_ERROR(choice_.CheckAllTaken());
    return Finish(limits);
  }

 private:
  struct Group {
    size_t element;
    size_t fields_left;
  };

  absl::Status Add(size_t i) {
    if (i > 0 && open_.empty())
      return DataLoss("the schema has elements after the end of its tree");
    const SchemaElement& element = elements_[i];
    if (open_.size() == 1) taken_ = choice_.Take(element.name);
    if (i > 0) --open_.back().fields_left;
    absl::StatusOr<RecordNode> node = NodeOf(elements_, i);
    if (!node.ok()) {
      return i == 0 ? node.status() : InColumn(node.status(), PathOf(element));
    }
    if (i == 0 && node->name.empty()) node->name = "schema";
    if (node->name.empty()) {
      return absl::InvalidArgumentError(StrCat(
          "column ", chunk_, " of the file has an empty name", open_.size() > 1 ? " in " : "",
          open_.size() > 1 ? PathOf(elements_[open_.back().element]) : ""));
    }
    if (!IsUtf8(node->name))
      return DataLoss("the name of column ", chunk_, " of the file, or of its group, is not UTF-8");
    if (node->is_leaf()) {
      if (!arrow_.empty()) node->type = WithTimeZone(node->type, arrow_[chunk_].time_zone);
      if (taken_) leaves_.push_back({.element = i, .chunk = chunk_});
      ++chunk_;
    } else {
      open_.push_back({i, node->num_children});
    }
    const bool top_level = open_.size() == (node->is_leaf() ? 1u : 2u);
    if (i > 0 && taken_ && top_level) ++nodes_[0].num_children;
    if (i == 0) node->num_children = 0;  // counts the fields that are taken
    if (i > 0 && taken_) {
      is_flat_ = is_flat_ && node->is_leaf() && node->repetition != Repetition::kRepeated;
    }
    if (i == 0 || taken_) nodes_.push_back(*std::move(node));
    while (!open_.empty() && open_.back().fields_left == 0) open_.pop_back();
    return absl::OkStatus();
  }

  // The names of the groups that contain `element`, and its own.
  std::string PathOf(const SchemaElement& element) const {
    std::string path;
    for (size_t i = 1; i < open_.size(); ++i) {
      if (&elements_[open_[i].element] != &element)
        path += StrCat(elements_[open_[i].element].name, ".");
    }
    return path + std::string(element.name);
  }

  absl::StatusOr<SchemaOfParquet> Finish(const RecordLimits& limits) {
    if (leaves_.empty()) return SchemaOfParquet{.names = std::move(choice_.known())};
    CFILE_ASSIGN_OR_RETURN(const RecordSchema tree,
                           RecordSchema::Create(std::move(nodes_), limits));
    SchemaOfParquet result{.schema = Schema::OfRecords(tree),
                           .leaves = std::move(leaves_),
                           .names = std::move(choice_.known())};
    if (is_flat_) result.schema.tree.reset();
    for (size_t i = 0; i < result.leaves.size(); ++i) {
      ParquetLeaf& leaf = result.leaves[i];
      const RecordNode& node = tree.leaf(i);
      leaf.column = i;
      leaf.max_repetition = node.max_repetition;
      leaf.max_definition = node.max_definition;
      leaf.same_pages = HasSamePages(elements_[leaf.element], node.type);
    }
    return result;
  }

  const std::span<const SchemaElement> elements_;
  NameChoice choice_;
  const std::vector<ArrowLeaf> arrow_;  // empty, or one for each leaf
  std::vector<Group> open_;             // the groups that contain the next element
  bool taken_ = false;                  // the current top-level column is taken
  bool is_flat_ = true;
  size_t chunk_ = 0;
  std::vector<RecordNode> nodes_;
  std::vector<ParquetLeaf> leaves_;
};

}  // namespace

absl::StatusOr<SchemaOfParquet> SchemaFromParquet(const parquet::FileMetaData& file,
                                                  std::span<const std::string> columns,
                                                  const RecordLimits& limits, bool may_lack) {
  const auto num_leaves = std::count_if(file.schema.begin(), file.schema.end(),
                                        [](const auto& node) { return node.type.has_value(); });
  std::vector<ArrowLeaf> arrow;
  for (const auto& [key, value] : file.key_value_metadata) {
    if (key != kArrowSchema) continue;
    arrow = ArrowLeavesOf(value.value_or(""), static_cast<size_t>(num_leaves));
    break;
  }
  return SchemaParser(file.schema, columns, std::move(arrow)).Parse(limits, may_lack);
}

std::vector<std::string_view> ParquetOfSchema::Path(const ParquetLeaf& leaf) const {
  std::vector<std::string_view> path;
  for (size_t node = leaf.element; node != 0; node = tree->node(node).parent)
    path.push_back(tree->node(node).name);
  std::reverse(path.begin(), path.end());
  return path;
}

absl::StatusOr<ParquetOfSchema> SchemaToParquet(const Schema& schema,
                                                std::span<const std::string> columns) {
  CFILE_ASSIGN_OR_RETURN(const RecordSchema all, ColumnTree(schema));
  NameChoice choice(columns);
  std::vector<RecordNode> nodes = {all.node(0)};
  nodes[0].num_children = 0;
  ParquetOfSchema result;
  for (size_t i = 1; i < all.nodes().size(); i = all.node(i).end) {
    if (!choice.Take(all.node(i).name)) continue;
    ++nodes[0].num_children;
    for (size_t node = i; node < all.node(i).end; ++node) {
      if (all.node(node).is_leaf()) {
        const size_t column = all.node(node).first_leaf;
        result.leaves.push_back({.element = nodes.size(),
                                 .chunk = result.leaves.size(),
                                 .column = column,
                                 .max_repetition = all.node(node).max_repetition,
                                 .max_definition = all.node(node).max_definition});
      }
      nodes.push_back(all.node(node));
    }
  }
  CFILE_RETURN_IF_ERROR(choice.CheckAllTaken());
  CFILE_ASSIGN_OR_RETURN(RecordSchema tree, RecordSchema::Create(std::move(nodes), kNoLimits));
  result.tree = std::make_unique<const RecordSchema>(std::move(tree));
  for (const RecordNode& node : result.tree->nodes()) {
    SchemaElement& element = result.elements.emplace_back();
    element.name = node.name;
    if (result.elements.size() > 1) element.repetition_type = static_cast<int32_t>(node.repetition);
    if (node.is_leaf()) {
      TypeToParquet(node.type, element);
      continue;
    }
    element.num_children = static_cast<int32_t>(node.num_children);
    if (node.kind == GroupKind::kList) {
      element.converted_type = ConvertedType::kList;
      element.logical_type.emplace().list.emplace();
    } else if (node.kind == GroupKind::kMap) {
      element.converted_type = ConvertedType::kMap;
      element.logical_type.emplace().map.emplace();
    }
  }
  for (ParquetLeaf& leaf : result.leaves) {
    leaf.same_pages =
        HasSamePages(result.elements[leaf.element], result.tree->node(leaf.element).type);
  }
  return result;
}

}  // namespace cfile::internal
