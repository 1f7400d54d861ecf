#include "cfile/parts/table/manifest/schema_message.h"

#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/wire/write_message.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

absl::StatusOr<RecordNode> ParseNode(const wire::SchemaNode& message) {
  RecordNode node{.name = std::string(message.name.value_or("")),
                  .repetition = static_cast<Repetition>(
                      message.repetition.value_or(wire::SchemaNode::REQUIRED)),
                  .kind = static_cast<GroupKind>(message.kind.value_or(wire::SchemaNode::PLAIN)),
                  .num_children = message.children.size()};
  if (!node.is_leaf()) return node;
  const wire::Column& column = wire::OrEmpty(message.column);
  auto type = InterpretType(column.type.value_or(0), wire::OrEmpty(column.extensions));
  if (!type.ok()) {
    return internal::WithMessage(type.status(),
                                 absl::StrCat("column ", node.name, ": ", type.status().message()));
  }
  node.type = *std::move(type);
  return node;
}

// The nodes of a schema in the order of their columns.
struct ParsedTree {
  bool flat = true;
  std::vector<RecordNode> nodes;
  std::vector<const wire::SchemaNode*> leaves;
};

absl::StatusOr<ParsedTree> ParseTree(const wire::SchemaNode& root) {
  ParsedTree tree{.flat = root.name.value_or("").empty()};
  // The nodes that were not parsed yet, the next one last. Their number is limited, because
  // ParseMessage has limited the memory of the message.
  std::vector<const wire::SchemaNode*> pending = {&root};
  while (!pending.empty()) {
    const wire::SchemaNode& message = *pending.back();
    pending.pop_back();
    if (&message != &root) {
      if (!message.children.empty() || message.repetition == wire::SchemaNode::REPEATED) {
        tree.flat = false;
      }
      if (message.children.empty()) tree.leaves.push_back(&message);
    }
    CFILE_ASSIGN_OR_RETURN(tree.nodes.emplace_back(), ParseNode(message));
    for (size_t i = message.children.size(); i-- > 0;) pending.push_back(&message.children[i]);
  }
  return tree;
}

absl::Status ParseIdentities(const wire::Table& message,
                             const std::vector<const wire::SchemaNode*>& leaves,
                             TableContents& contents) {
  bool used = message.next_column_id || message.key_index_id;
  ColumnIdentities identities{.next_id = message.next_column_id.value_or(0)};
  for (const wire::SchemaNode* leaf : leaves) {
    used = used || leaf->column_id || leaf->default_value;
    identities.ids.push_back(
        leaf->column_id.value_or(static_cast<uint32_t>(identities.ids.size())));
    identities.defaults.emplace_back(leaf->default_value);
  }
  if (!message.key_columns.empty()) {
    identities.ids.push_back(message.key_index_id.value_or(static_cast<uint32_t>(leaves.size())));
  }
  if ((message.incompatible_features.value_or(0) & kTableFeatureColumnIds) != 0) {
    contents.identities = std::move(identities);
  } else if (used) {
    return DataLoss("ids or defaults of columns found, but incompatible feature bit 3 is not set");
  }
  return absl::OkStatus();
}

// True if `key` is the memcmp form of a value of `type`.
bool IsValue(const std::string& key, const ColumnType& type) {
  return encodings::VisitPhysicalType(type.physical(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, encodings::Int96>) {
      return false;
    } else if constexpr (encodings::kIsBytes<T>) {
      return type.type_length == 0 || key.size() == type.type_length;
    } else {
      T value{};
      return ParseKey<T>(key, value);
    }
  });
}

void SerializeColumn(const ColumnType& type, wire::SchemaNode& node) {
  wire::Extensions extensions;
  wire::Column& column = wire::Mutable(node.column);
  column.type = DescribeType(type, extensions);
  if (!wire::IsEmpty(extensions)) wire::Mutable(column.extensions) = std::move(extensions);
}

// Appends the messages of the leaves to `leaves`.
void SerializeTree(const RecordSchema& tree, wire::SchemaNode& root,
                   std::vector<wire::SchemaNode*>& leaves) {
  std::vector<wire::SchemaNode*> messages;  // by node
  for (size_t i = 0; i < tree.nodes().size(); ++i) {
    const RecordNode& node = tree.node(i);
    wire::SchemaNode& message = i == 0 ? root : messages[node.parent]->children.emplace_back();
    message.children.reserve(node.num_children);  // so the children stay where they are
    messages.push_back(&message);
    message.name = node.name;
    if (i > 0) message.repetition = static_cast<int32_t>(node.repetition);
    if (node.kind != GroupKind::kPlain) message.kind = static_cast<int32_t>(node.kind);
    if (!node.is_leaf()) continue;
    SerializeColumn(node.type, message);
    leaves.push_back(&message);
  }
}

}  // namespace

absl::Status ParseSchema(const wire::Table& message, const RecordLimits& limits,
                         TableContents& contents) {
  CFILE_ASSIGN_OR_RETURN(ParsedTree tree, ParseTree(wire::OrEmpty(message.schema)));
  if (!tree.flat) {
    CFILE_ASSIGN_OR_RETURN(const RecordSchema records,
                           RecordSchema::Create(std::move(tree.nodes), limits));
    contents.schema = Schema::OfRecords(records);
  } else {
    for (size_t i = 1; i < tree.nodes.size(); ++i) {
      RecordNode& node = tree.nodes[i];
      contents.schema.columns.push_back({.name = std::move(node.name),
                                         .type = std::move(node.type),
                                         .nullable = node.repetition == Repetition::kOptional});
    }
  }
  contents.schema.key_columns.assign(message.key_columns.begin(), message.key_columns.end());
  contents.schema.nulls_last.assign(message.nulls_last.begin(), message.nulls_last.end());
  if (message.merge_rule != nullptr) {
    contents.schema.merge_rule = {.deleted_column = message.merge_rule->deleted_column,
                                  .time_column = message.merge_rule->time_column};
    contents.time_bound = message.merge_rule->time_bound;
  }
  return ParseIdentities(message, tree.leaves, contents);
}

absl::Status CheckIdentities(const TableContents& contents) {
  if (!contents.identities) return absl::OkStatus();
  const ColumnIdentities& identities = *contents.identities;
  const std::vector<ColumnSchema> columns = StoredColumns(contents.schema);
  if (identities.ids.size() != columns.size()) {
    return DataLoss(columns.size(), " column ids expected, found ", identities.ids.size());
  }
  std::set<uint32_t> found;
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t id = identities.ids[i];
    if (id >= identities.next_id) {
      return DataLoss("column ", columns[i].name, ": an id below ", identities.next_id,
                      " expected, found ", id);
    }
    if (!found.insert(id).second) {
      return DataLoss("column ", columns[i].name, ": another column has the id ", id, " as well");
    }
  }
  for (size_t i = 0; i < contents.schema.columns.size(); ++i) {
    if (!identities.defaults[i]) continue;
    if (columns[i].has_levels() || !IsValue(*identities.defaults[i], columns[i].type)) {
      return DataLoss("column ", columns[i].name, ": the default is not a value of the column");
    }
  }
  return absl::OkStatus();
}

void SerializeSchema(const TableContents& contents, wire::Table& message) {
  std::vector<wire::SchemaNode*> leaves;
  wire::SchemaNode& root = wire::Mutable(message.schema);
  if (contents.schema.tree.has_value()) {
    SerializeTree(*contents.schema.tree, root, leaves);
  } else {
    root.children.reserve(contents.schema.columns.size());  // so the children stay where they are
    for (const ColumnSchema& column : contents.schema.columns) {
      wire::SchemaNode& node = root.children.emplace_back();
      node.name = column.name;
      node.repetition = column.nullable ? wire::SchemaNode::OPTIONAL : wire::SchemaNode::REQUIRED;
      SerializeColumn(column.type, node);
      leaves.push_back(&node);
    }
  }
  for (const size_t column : contents.schema.key_columns) {
    message.key_columns.push_back(static_cast<uint32_t>(column));
  }
  for (const size_t column : contents.schema.nulls_last) {
    message.nulls_last.push_back(static_cast<uint32_t>(column));
  }
  if (const std::optional<MergeRule>& rule = contents.schema.merge_rule) {
    wire::MergeRule& merge_rule = wire::Mutable(message.merge_rule);
    merge_rule.deleted_column = rule->deleted_column;
    merge_rule.time_column = rule->time_column;
    merge_rule.time_bound = contents.time_bound;
  }
  if (!contents.identities) return;
  const ColumnIdentities& identities = *contents.identities;
  message.next_column_id = identities.next_id;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (identities.ids[i] != i) leaves[i]->column_id = identities.ids[i];
    leaves[i]->default_value = identities.defaults[i];
  }
  if (contents.schema.key_index()) message.key_index_id = identities.ids.back();
}

}  // namespace cfile::internal
