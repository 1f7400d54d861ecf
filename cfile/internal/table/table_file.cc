#include "cfile/internal/table/table_file.h"

#include <cassert>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/column_message.h"
#include "cfile/internal/format/crc32c.h"
#include "cfile/internal/format/feature_bits.h"
#include "cfile/internal/format/parse_message.h"
#include "cfile/internal/io/file_system.h"
#include "cfile/internal/io/named_status.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "proto/table.pb.h"

namespace cfile::internal {
namespace {

using encodings::AsBytes;
using encodings::AsString;
using encodings::DataLoss;

// A table with incompatible features has another magic, because readers from before there were such
// features do not look for them.
constexpr std::string_view kMagic = "cfiletb1";
constexpr std::string_view kFeaturesMagic = "cfiletb2";
static_assert(kMagic.size() == kFeaturesMagic.size());
constexpr std::string_view kPartPrefix = "part-";

// True if `name` is a single component of a path, which stays inside its folder.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

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

// Returns the schema: for a flat table, the columns; otherwise the tree and its columns.
absl::StatusOr<Schema> ParseSchema(const SchemaNodePB& root, const RecordLimits& limits) {
  bool flat = root.name().empty();
  std::vector<RecordNode> nodes;
  // The nodes that are still to be parsed; the next one is at the back. ParseMessage has limited
  // the memory of the message, and so the number of nodes.
  std::vector<const SchemaNodePB*> pending = {&root};
  while (!pending.empty()) {
    const SchemaNodePB& message = *pending.back();
    pending.pop_back();
    if (&message != &root &&
        (message.children_size() > 0 || message.repetition() == SchemaNodePB::REPEATED)) {
      flat = false;
    }
    CFILE_ASSIGN_OR_RETURN(nodes.emplace_back(), ParseNode(message));
    for (int i = message.children_size(); i-- > 0;) pending.push_back(&message.children(i));
  }
  if (!flat) {
    CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, RecordSchema::Create(std::move(nodes), limits));
    return Schema::OfRecords(tree);
  }
  Schema schema;
  for (size_t i = 1; i < nodes.size(); ++i) {
    schema.columns.push_back({.name = std::move(nodes[i].name),
                              .type = std::move(nodes[i].type),
                              .nullable = nodes[i].repetition == Repetition::kOptional});
  }
  return schema;
}

void SerializeColumn(const ColumnType& type, SchemaNodePB& node) {
  ExtensionsPB extensions;
  node.mutable_column()->set_type(DescribeType(type, extensions));
  if (extensions.ByteSizeLong() > 0) *node.mutable_column()->mutable_extensions() = extensions;
}

void SerializeTree(const RecordSchema& tree, SchemaNodePB& root) {
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
    if (node.is_leaf()) SerializeColumn(node.type, message);
  }
}

absl::StatusOr<TablePartColumn> ParsePartColumn(const PartColumnPB& message, const PartPB& part,
                                                const ColumnSchema& column) {
  const auto error = [&](const auto&... pieces) {
    return DataLoss("part ", part.directory(), ", column ", column.name, ": ", pieces...);
  };
  TablePartColumn result{.file_name = message.file_name(),
                         .size_bytes = message.size_bytes(),
                         .num_rows = message.num_values(),
                         .null_count = message.null_count()};
  if (!IsPlainName(result.file_name)) {
    return error("a file name expected, found \"", result.file_name, "\"");
  }
  if (result.num_rows != part.num_rows()) {
    return error("expected ", part.num_rows(), " rows, as many as the part has, found ",
                 result.num_rows);
  }
  // With levels, a record may have any number of nulls.
  if (!column.has_levels() && result.null_count > (column.nullable ? result.num_rows : 0)) {
    return error(result.null_count, " nulls found in ", result.num_rows,
                 column.nullable ? " rows" : " rows, but the column is not nullable");
  }
  if (message.has_min_key() != message.has_max_key()) {
    return error("minimum and maximum expected, found only one of them");
  }
  if (message.has_min_key()) {
    if (message.min_key() > message.max_key()) return error("the minimum is above the maximum");
    result.min_key = message.min_key();
    result.max_key = message.max_key();
  }
  return result;
}

std::string_view MagicOf(uint32_t incompatible_features) {
  return incompatible_features == 0 ? kMagic : kFeaturesMagic;
}

absl::StatusOr<TablePart> ParsePart(const PartPB& message,
                                    const std::vector<ColumnSchema>& columns) {
  TablePart part{.directory = message.directory(), .num_rows = message.num_rows()};
  if (!IsPlainName(part.directory)) {
    return DataLoss("a part's directory expected, found \"", part.directory, "\"");
  }
  // No file has more rows. This check also prevents overflow of the sum over all parts.
  if (part.num_rows > std::numeric_limits<uint32_t>::max()) {
    return DataLoss("part ", part.directory, ": at most 2^32 - 1 rows expected, found ",
                    part.num_rows);
  }
  if (static_cast<size_t>(message.columns_size()) != columns.size()) {
    return DataLoss("part ", part.directory, ": ", columns.size(),
                    " columns expected as in the schema, found ", message.columns_size());
  }
  for (const PartColumnPB& column : message.columns()) {
    CFILE_ASSIGN_OR_RETURN(part.columns.emplace_back(),
                           ParsePartColumn(column, message, columns[part.columns.size()]));
  }
  return part;
}

absl::StatusOr<TableContents> ParseContents(std::string_view magic, std::span<const uint8_t> bytes,
                                            const ReaderOptions& options) {
  auto message = std::make_unique<TablePB>();
  CFILE_RETURN_IF_ERROR(ParseMessage(AsString(bytes), options.max_metadata_size_bytes, *message));
  const uint32_t features = message->incompatible_features();
  const std::string_view expected_magic = MagicOf(features);
  if (magic != expected_magic) {
    return DataLoss("with the incompatible feature bits ", absl::Hex(features), ", the magic ",
                    std::string(expected_magic), " expected, found ", std::string(magic));
  }
  // Check the features before all else: they may change what the other fields mean.
  CFILE_RETURN_IF_ERROR(CheckTableFeatures(features));
  TableContents contents{.incompatible_features = features};
  auto schema = ParseSchema(message->schema(), options.record_limits);
  if (!schema.ok()) {
    return absl::IsInvalidArgument(schema.status()) ? absl::DataLossError(schema.status().message())
                                                    : schema.status();
  }
  contents.schema = *std::move(schema);
  contents.schema.key_columns.assign(message->key_columns().begin(), message->key_columns().end());
  if (const absl::Status status = ValidateSchema(contents.schema); !status.ok()) {
    return absl::DataLossError(status.message());
  }
  const std::vector<ColumnSchema> columns = StoredColumns(contents.schema);
  for (const PartPB& part : message->parts()) {
    CFILE_ASSIGN_OR_RETURN(contents.parts.emplace_back(), ParsePart(part, columns));
  }
  contents.condemned.assign(message->condemned().begin(), message->condemned().end());
  return contents;
}

}  // namespace

std::string TableFilePath(const std::string& storage) {
  return absl::StrCat(storage, "/", kTableFileName);
}

std::string PathInStorage(const TablePart& part, size_t column) {
  return absl::StrCat(part.directory, "/", part.columns[column].file_name);
}

std::string ColumnFilePath(const std::string& storage, const TablePart& part, size_t column) {
  return absl::StrCat(storage, "/", PathInStorage(part, column));
}

absl::StatusOr<std::string> NewPartName() {
  CFILE_ASSIGN_OR_RETURN(const std::string random, RandomName());
  return std::string(kPartPrefix) + random;
}

bool IsUniquePartName(std::string_view name) {
  return name.starts_with(kPartPrefix) && IsRandomName(name.substr(kPartPrefix.size()));
}

bool IsPartName(std::string_view name) {
  constexpr size_t kLeastDigits = 6;
  return IsUniquePartName(name) ||
         (name.starts_with(kPartPrefix) && name.size() >= kPartPrefix.size() + kLeastDigits &&
          name.find_first_not_of("0123456789", kPartPrefix.size()) == name.npos);
}

std::string ColumnFileName(size_t column, std::string_view name) {
  constexpr size_t kMaxNameBytes = 64;
  std::string file_name = absl::StrCat(absl::Dec(column, absl::kZeroPad4), "-");
  for (const char c : name.substr(0, kMaxNameBytes)) {
    const bool kept = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
                      c == '-' || c == '_';
    file_name.push_back(kept ? c : '_');
  }
  return file_name + ".cfile";
}

std::vector<ColumnSchema> StoredColumns(const Schema& schema) {
  std::vector<ColumnSchema> columns = schema.columns;
  if (schema.key_index()) columns.push_back({.name = "key index", .type = ColumnType::Binary()});
  return columns;
}

absl::Status ValidateSchema(const Schema& schema) {
  if (schema.columns.empty()) {
    return absl::InvalidArgumentError("expected a schema of one column or more, found no column");
  }
  std::set<std::string_view> names;
  for (const ColumnSchema& column : schema.columns) {
    if (column.name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", names.size(), " of the schema has no name"));
    }
    if (!names.insert(column.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two columns of the schema have the name ", column.name));
    }
    if (const absl::Status status = Validate(column.type); !status.ok()) {
      return internal::WithMessage(status,
                                   absl::StrCat("column ", column.name, ": ", status.message()));
    }
  }
  if (schema.tree.has_value() && Schema::OfRecords(*schema.tree).columns != schema.columns) {
    return absl::InvalidArgumentError(
        "the columns of the schema are not the leaf columns of its tree");
  }
  std::set<size_t> keys;
  for (const size_t column : schema.key_columns) {
    if (column < schema.columns.size() &&
        schema.columns[column].type.physical() == PhysicalType::kInt96) {
      return absl::InvalidArgumentError(absl::StrCat("column ", schema.columns[column].name,
                                                     " is a key column, but int96 has no order"));
    }
    if (column >= schema.columns.size() || schema.columns[column].nullable ||
        schema.columns[column].has_levels() || !keys.insert(column).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", column, " is a key column, but ",
                       column >= schema.columns.size()       ? "there is no column of that number"
                       : schema.columns[column].nullable     ? "may be null"
                       : schema.columns[column].has_levels() ? "is nested"
                                                             : "is already one"));
    }
  }
  return absl::OkStatus();
}

std::string SerializeTable(const TableContents& contents) {
  TablePB table;
  if (contents.incompatible_features != 0) {
    table.set_incompatible_features(contents.incompatible_features);
  }
  table.set_created_by("cfile " CFILE_VERSION);
  if (contents.schema.tree.has_value()) {
    SerializeTree(*contents.schema.tree, *table.mutable_schema());
  } else {
    for (const ColumnSchema& column : contents.schema.columns) {
      SchemaNodePB& node = *table.mutable_schema()->add_children();
      node.set_name(column.name);
      node.set_repetition(column.nullable ? SchemaNodePB::OPTIONAL : SchemaNodePB::REQUIRED);
      SerializeColumn(column.type, node);
    }
  }
  for (const size_t column : contents.schema.key_columns) {
    table.add_key_columns(static_cast<uint32_t>(column));
  }
  for (const TablePart& part : contents.parts) {
    PartPB& part_message = *table.add_parts();
    part_message.set_directory(part.directory);
    part_message.set_num_rows(part.num_rows);
    for (const TablePartColumn& column : part.columns) {
      PartColumnPB& message = *part_message.add_columns();
      message.set_file_name(column.file_name);
      message.set_size_bytes(column.size_bytes);
      message.set_num_values(column.num_rows);
      message.set_null_count(column.null_count);
      if (column.min_key.has_value()) message.set_min_key(*column.min_key);
      if (column.max_key.has_value()) message.set_max_key(*column.max_key);
    }
  }
  for (const std::string& name : contents.condemned) table.add_condemned(name);
  const std::string message = table.SerializeAsString();
  encodings::ByteWriter bytes;
  bytes.PutBytes(MagicOf(contents.incompatible_features));
  bytes.PutFixed(static_cast<uint32_t>(message.size()));
  bytes.PutBytes(std::string_view(message));
  // Covers all bytes before it: magic, length and message.
  bytes.PutFixed(Crc32c(bytes.span()));
  return std::string(bytes.view());
}

absl::Status CheckTableFileSize(std::string_view bytes, const std::string& path,
                                size_t max_size_bytes) {
  if (bytes.size() > max_size_bytes) {
    return absl::OutOfRangeError(
        encodings::StrCat(path, ": ", bytes.size(), " bytes are ",
                          encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes")));
  }
  constexpr size_t kFrontBytes = kMagic.size() + sizeof(uint32_t);
  const std::string_view message =
      bytes.substr(kFrontBytes, bytes.size() - kFrontBytes - kChecksumBytes);
  return Named(CheckParsedSize(message, max_size_bytes, *TablePB::descriptor()), path);
}

absl::StatusOr<TableContents> ParseTable(std::string_view bytes, const std::string& path,
                                         const ReaderOptions& options) {
  encodings::ByteReader reader(AsBytes(bytes));
  std::span<const uint8_t> magic, message;
  uint32_t length, crc;
  if (!reader.ReadBytes(kMagic.size(), magic) ||
      (AsString(magic) != kMagic && AsString(magic) != kFeaturesMagic)) {
    return DataLoss(path, ": this is not the file of a table: expected the magic ",
                    std::string(kMagic), " or ", std::string(kFeaturesMagic),
                    ", found other bytes");
  }
  if (!reader.ReadFixed(length) || !reader.ReadBytes(length, message) || !reader.ReadFixed(crc) ||
      !reader.empty()) {
    return DataLoss(path, ": the file has ", bytes.size(),
                    " bytes, which does not fit the length in it");
  }
  const uint32_t expected_crc = Crc32c(AsBytes(bytes.substr(0, bytes.size() - kChecksumBytes)));
  if (crc != expected_crc) {
    return DataLoss(path, ": CRC32C ", absl::Hex(expected_crc, absl::kZeroPad8),
                    " expected, found ", absl::Hex(crc, absl::kZeroPad8));
  }
  return Named(ParseContents(AsString(magic), message, options), path);
}

}  // namespace cfile::internal
