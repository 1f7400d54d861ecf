#include "cfile/internal/manifest/schema_message.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/column_message.h"
#include "cfile/internal/format/feature_bits.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/io/named_status.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "proto/table.pb.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

absl::StatusOr<RecordNode> ParseNode(const SchemaNodePB& message) {
  RecordNode node{.name = message.name(),
                  .repetition = static_cast<Repetition>(message.repetition()),
                  .kind = static_cast<GroupKind>(message.kind()),
                  .num_children = static_cast<size_t>(message.children_size())};
  if (!node.is_leaf()) return node;
  auto type = InterpretType(message.column().type(), message.column().extensions());
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
  std::vector<const SchemaNodePB*> leaves;
};

absl::StatusOr<ParsedTree> ParseTree(const SchemaNodePB& root) {
  ParsedTree tree{.flat = root.name().empty()};
  // The nodes that were not parsed yet; the next node is the last element.
  // ParseMessage has limited the memory of the message, and so the number of nodes.
  std::vector<const SchemaNodePB*> pending = {&root};
  while (!pending.empty()) {
    const SchemaNodePB& message = *pending.back();
    pending.pop_back();
    if (&message != &root) {
      if (message.children_size() > 0 || message.repetition() == SchemaNodePB::REPEATED) {
        tree.flat = false;
      }
      if (message.children_size() == 0) tree.leaves.push_back(&message);
    }
    CFILE_ASSIGN_OR_RETURN(tree.nodes.emplace_back(), ParseNode(message));
    for (int i = message.children_size(); i-- > 0;) pending.push_back(&message.children(i));
  }
  return tree;
}

absl::Status ParseIdentities(const TablePB& message, const std::vector<const SchemaNodePB*>& leaves,
                             TableContents& contents) {
  bool used = message.has_next_column_id() || message.has_key_index_id();
  ColumnIdentities identities{.next_id = message.next_column_id()};
  for (const SchemaNodePB* leaf : leaves) {
    used = used || leaf->has_column_id() || leaf->has_default_value();
    identities.ids.push_back(leaf->has_column_id() ? leaf->column_id()
                                                   : static_cast<uint32_t>(identities.ids.size()));
    identities.defaults.push_back(leaf->has_default_value()
                                      ? std::optional<std::string>(leaf->default_value())
                                      : std::nullopt);
  }
  if (message.key_columns_size() > 0) {
    identities.ids.push_back(message.has_key_index_id() ? message.key_index_id()
                                                        : static_cast<uint32_t>(leaves.size()));
  }
  if ((message.incompatible_features() & kTableFeatureColumnIds) != 0) {
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

void SerializeColumn(const ColumnType& type, SchemaNodePB& node) {
  ExtensionsPB extensions;
  node.mutable_column()->set_type(DescribeType(type, extensions));
  if (extensions.ByteSizeLong() > 0) *node.mutable_column()->mutable_extensions() = extensions;
}

// Appends the messages of the leaves to `leaves`.
void SerializeTree(const RecordSchema& tree, SchemaNodePB& root,
                   std::vector<SchemaNodePB*>& leaves) {
  std::vector<SchemaNodePB*> messages;  // by node
  for (size_t i = 0; i < tree.nodes().size(); ++i) {
    const RecordNode& node = tree.node(i);
    SchemaNodePB& message = i == 0 ? root : *messages[node.parent]->add_children();
    messages.push_back(&message);
    message.set_name(node.name);
    if (i > 0) message.set_repetition(static_cast<SchemaNodePB::Repetition>(node.repetition));
    if (node.kind != GroupKind::kPlain) {
      message.set_kind(static_cast<SchemaNodePB::GroupKind>(node.kind));
    }
    if (!node.is_leaf()) continue;
    SerializeColumn(node.type, message);
    leaves.push_back(&message);
  }
}

}  // namespace

absl::Status ParseSchema(const TablePB& message, const RecordLimits& limits,
                         TableContents& contents) {
  CFILE_ASSIGN_OR_RETURN(ParsedTree tree, ParseTree(message.schema()));
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
  contents.schema.key_columns.assign(message.key_columns().begin(), message.key_columns().end());
  contents.schema.nulls_last.assign(message.nulls_last().begin(), message.nulls_last().end());
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

void SerializeSchema(const TableContents& contents, TablePB& message) {
  std::vector<SchemaNodePB*> leaves;
  if (contents.schema.tree.has_value()) {
    SerializeTree(*contents.schema.tree, *message.mutable_schema(), leaves);
  } else {
    for (const ColumnSchema& column : contents.schema.columns) {
      SchemaNodePB& node = *message.mutable_schema()->add_children();
      node.set_name(column.name);
      node.set_repetition(column.nullable ? SchemaNodePB::OPTIONAL : SchemaNodePB::REQUIRED);
      SerializeColumn(column.type, node);
      leaves.push_back(&node);
    }
  }
  for (const size_t column : contents.schema.key_columns) {
    message.add_key_columns(static_cast<uint32_t>(column));
  }
  for (const size_t column : contents.schema.nulls_last) {
    message.add_nulls_last(static_cast<uint32_t>(column));
  }
  if (!contents.identities) return;
  const ColumnIdentities& identities = *contents.identities;
  message.set_next_column_id(identities.next_id);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (identities.ids[i] != i) leaves[i]->set_column_id(identities.ids[i]);
    if (identities.defaults[i]) leaves[i]->set_default_value(*identities.defaults[i]);
  }
  if (contents.schema.key_index()) message.set_key_index_id(identities.ids.back());
}

}  // namespace cfile::internal
