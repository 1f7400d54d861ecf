#include "cfile/parts/arrow/field_tree.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/arrow/column_tree.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

class TreeMaker {
 public:
  TreeMaker(const Schema& schema, const RecordSchema& tree,
            const std::vector<ExportedColumn>& columns, FieldTree& out)
      : schema_(schema), tree_(tree), columns_(columns), out_(out) {
    source_of_leaf_.resize(schema.columns.size());
    out.places.resize(columns.size());
  }

  // Makes the fields below the root.
  void Make() {
    FieldNode& root = out_.root;
    root.field.format = "+s";
    if (!schema_.tree) {
      // Fields have the order of the columns. A column may occur several times.
      const std::vector<size_t> fields = ChildrenOf(0);
      root.children.reserve(columns_.size());
      for (size_t i = 0; i < columns_.size(); ++i) {
        source_of_leaf_[columns_[i].column] = i;
        root.children.push_back(MakeField(fields[columns_[i].column], {}));
        source_of_leaf_[columns_[i].column].reset();
      }
      return;
    }
    for (size_t i = 0; i < columns_.size(); ++i) source_of_leaf_[columns_[i].column] = i;
    for (const size_t child : ChildrenOf(0)) {
      if (IsExported(child)) root.children.push_back(MakeField(child, {}));
    }
  }

 private:
  // Returns the innermost repeated node around a node.
  struct Around {
    uint16_t repetition = 0;
    uint16_t definition = 0;
  };

  std::vector<size_t> ChildrenOf(size_t node) const {
    std::vector<size_t> children;
    for (size_t child = node + 1; child < tree_.node(node).end; child = tree_.node(child).end)
      children.push_back(child);
    return children;
  }
  std::optional<size_t> FirstSource(size_t node) const {
    for (size_t leaf = tree_.node(node).first_leaf; leaf < tree_.node(node).end_leaf; ++leaf) {
      if (source_of_leaf_[leaf]) return source_of_leaf_[leaf];
    }
    return std::nullopt;
  }
  bool IsExported(size_t node) const { return FirstSource(node).has_value(); }

  // Makes the field of a node. If the node is repeated, the field is a list.
  FieldNode MakeField(size_t number, const Around& around) {
    const RecordNode& node = tree_.node(number);
    if (node.repetition != Repetition::kRepeated) return MakeSingle(number, around);
    FieldNode list = MakeList(number, number, around);
    list.children.push_back(MakeSingle(number, {node.max_repetition, node.max_definition}));
    list.children.back().field.name = "element";
    return list;
  }

  // Makes the field of a node. If the node is repeated, makes the field of an element.
  FieldNode MakeSingle(size_t number, const Around& around) {
    const RecordNode& node = tree_.node(number);
    if (node.is_leaf()) return MakeLeaf(number, around);
    if (node.kind != GroupKind::kPlain) {
      const RecordNode& repeated = tree_.node(number + 1);
      const Around inner{repeated.max_repetition, repeated.max_definition};
      FieldNode list = MakeList(number, number + 1, around);
      if (node.kind == GroupKind::kList) {
        list.children.push_back(MakeSingle(tree_.ListElement(number), inner));
        return list;
      }
      // A map in Arrow must have a key and a value.
      const std::vector<size_t> key_and_value = ChildrenOf(number + 1);
      const bool whole = std::all_of(key_and_value.begin(), key_and_value.end(),
                                     [&](size_t child) { return IsExported(child); });
      if (whole) list.field.format = "+m";
      list.children.push_back(MakeStruct(number + 1, inner));
      if (whole) list.children.back().field.name = "entries";
      return list;
    }
    return MakeStruct(number, around);
  }

  FieldNode MakeStruct(size_t number, const Around& around) {
    FieldNode group = Named(number, FieldNode::Kind::kStruct, "+s");
    Tell(number,
         {.repetition = around.repetition,
          .definition = around.definition,
          .valid_definition = ValidDefinition(number)},
         group);
    for (const size_t child : ChildrenOf(number)) {
      if (IsExported(child)) group.children.push_back(MakeField(child, around));
    }
    return group;
  }

  // Makes the list with this number. Its elements are those of the node `repeated`. The caller adds
  // the field of the element.
  FieldNode MakeList(size_t number, size_t repeated, const Around& around) {
    FieldNode list = Named(number, FieldNode::Kind::kList, "+l");
    Tell(number,
         {.repetition = around.repetition,
          .definition = around.definition,
          .valid_definition = ValidDefinition(number),
          .is_list = true,
          .element_repetition = tree_.node(repeated).max_repetition,
          .element_definition = tree_.node(repeated).max_definition},
         list);
    return list;
  }

  FieldNode MakeLeaf(size_t number, const Around& around) {
    const RecordNode& node = tree_.node(number);
    FieldNode leaf = Named(number, FieldNode::Kind::kLeaf, "");
    leaf.source = *source_of_leaf_[node.first_leaf];
    const size_t column = columns_[leaf.source].column;
    SetType(node.type, columns_[leaf.source].layout, leaf.field);
    const auto key = std::find(schema_.key_columns.begin(), schema_.key_columns.end(), column);
    if (key != schema_.key_columns.end()) {
      leaf.field.metadata.emplace_back("cfile.key",
                                       absl::StrCat(key - schema_.key_columns.begin()));
    }
    if (std::find(schema_.nulls_last.begin(), schema_.nulls_last.end(), column) !=
        schema_.nulls_last.end()) {
      leaf.field.metadata.emplace_back("cfile.nulls_last", "true");
    }
    out_.places[leaf.source].rule = {.repetition = node.max_repetition,
                                     .definition = around.definition,
                                     .valid_definition = node.max_definition};
    out_.places[leaf.source].nullable = node.repetition == Repetition::kOptional;
    return leaf;
  }

  FieldNode Named(size_t number, FieldNode::Kind kind, const char* format) const {
    const RecordNode& node = tree_.node(number);
    const bool nullable = node.repetition == Repetition::kOptional;
    return {
        .field = {.format = format, .name = node.name, .flags = nullable ? ARROW_FLAG_NULLABLE : 0},
        .kind = kind};
  }

  // A required node is never null.
  uint16_t ValidDefinition(size_t number) const {
    const RecordNode& node = tree_.node(number);
    return node.repetition == Repetition::kOptional ? node.max_definition : uint16_t{0};
  }

  // Assigns the levels of the first exported column below a node to the node, which gets its
  // validity and its offsets from them.
  void Tell(size_t number, const LevelRule& rule, FieldNode& node) {
    node.source = *FirstSource(number);
    std::vector<LevelRule>& rules = out_.places[node.source].nodes;
    node.node = rules.size();
    rules.push_back(rule);
  }

  const Schema& schema_;
  const RecordSchema& tree_;
  const std::vector<ExportedColumn>& columns_;
  FieldTree& out_;
  std::vector<std::optional<size_t>> source_of_leaf_;
};

}  // namespace

absl::StatusOr<std::vector<ExportedColumn>> ColumnsToExport(const Schema& schema,
                                                            const std::vector<size_t>& columns,
                                                            bool string_views,
                                                            const std::string& name) {
  std::vector<ExportedColumn> exported;
  for (const size_t column : columns) {
    const ColumnSchema& described = schema.columns[column];
    const auto same = [&](const ExportedColumn& other) { return other.column == column; };
    if (schema.tree && std::any_of(exported.begin(), exported.end(), same)) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": column ", described.name,
                                                     " of a table of records is selected twice"));
    }
    exported.push_back({.column = column, .layout = LayoutOf(described.type, string_views)});
  }
  return exported;
}

ArrowField FieldNode::WithChildren() const {
  ArrowField whole = field;
  for (const FieldNode& child : children) whole.children.push_back(child.WithChildren());
  return whole;
}

absl::StatusOr<FieldTree> MakeFieldTree(const Schema& schema,
                                        const std::vector<ExportedColumn>& columns) {
  FieldTree fields;
  if (columns.empty()) {
    fields.root.field.format = "+s";
    return fields;
  }
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ColumnTree(schema));
  TreeMaker(schema, tree, columns, fields).Make();
  return fields;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > text.size() - i || first > 0xf4 || (first >= 0x80 && first < 0xc2)) return false;
    uint32_t code = first & (length == 1 ? 0x7f : 0x7f >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    // A code is invalid if it is longer than needed, a surrogate, or above the last code.
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (too_long || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return false;
    i += length;
  }
  return true;
}

void DescribeFile(const FileInfo& info, ArrowField& field) {
  field.metadata.emplace_back("cfile.encoding", EncodingName(info.encoding));
  if (info.value_index_root) field.metadata.emplace_back("cfile.sorted", "ascending");
  for (const auto* pairs : {&info.header_metadata, &info.footer_metadata}) {
    for (const auto& pair : *pairs) {
      // Leaves out the keys that the format reserves, and what is not text, because consumers
      // expect text.
      if (!pair.first.starts_with("cfile.") && IsUtf8(pair.first) && IsUtf8(pair.second))
        field.metadata.push_back(pair);
    }
  }
}

}  // namespace cfile::internal
