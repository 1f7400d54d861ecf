#include "cfile/internal/parquet/key_value_metadata.h"

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "cfile/internal/arrow/field_tree.h"
#include "cfile/internal/arrow_schema/ipc_fields.h"
#include "cfile/internal/arrow_schema/ipc_schema_writer.h"
#include "cfile/internal/format/file_policy.h"
#include "cfile/internal/format/metadata_keys.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {
namespace {

// A message of Arrow IPC in Base64.
constexpr std::string_view kArrowSchema = "ARROW:schema";
// Describes the columns of a table of pandas.
constexpr std::string_view kPandas = "pandas";

// With these pairs, Spark, Avro and other users of parquet-java describe their own schema.
constexpr std::string_view kPrefixesOfWriters[] = {"org.apache.spark.", "parquet.avro.",
                                                   "avro.schema", "parquet.proto.", "thrift.",
                                                   "writer.model.name"};

// The longest name of a time zone that is taken. Names of the IANA database are shorter.
constexpr size_t kMaxZoneBytes = 64;

std::optional<ArrowField> ParseArrowSchema(std::string_view text) {
  std::string message;
  if (!absl::Base64Unescape({text.data(), text.size()}, &message)) return std::nullopt;
  auto schema = ReadIpcSchemaMessage(encodings::AsBytes(message), {});
  return schema.ok() ? std::optional(*std::move(schema)) : std::nullopt;
}

// Returns the time zone of a timestamp, for example UTC of "tsu:UTC". "": there is none.
std::string ZoneOf(std::string_view format) {
  if (!format.starts_with("ts") || format.size() < 4) return "";
  const std::string_view zone = format.substr(4);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-/:").find(c) != std::string_view::npos;
  };
  if (zone.size() > kMaxZoneBytes || !std::all_of(zone.begin(), zone.end(), is_plain)) return "";
  return std::string(zone);
}

// Appends the leaves below a field.
void AppendLeaves(const ArrowField& field, bool is_dictionary, std::vector<ArrowLeaf>& leaves) {
  if (!field.dictionary.empty()) return AppendLeaves(field.dictionary[0], true, leaves);
  if (field.children.empty())
    leaves.push_back({.time_zone = ZoneOf(field.format), .is_dictionary = is_dictionary});
  // The first child of a run-end encoded field is the ends of the runs.
  for (size_t i = field.format == "+r" ? 1 : 0; i < field.children.size(); ++i)
    AppendLeaves(field.children[i], is_dictionary, leaves);
}

std::vector<ArrowLeaf> LeavesOf(std::string_view arrow_schema, size_t num_leaves) {
  const std::optional<ArrowField> schema = ParseArrowSchema(arrow_schema);
  std::vector<ArrowLeaf> leaves;
  if (schema) {
    for (const ArrowField& field : schema->children) AppendLeaves(field, false, leaves);
  }
  if (leaves.size() != num_leaves) leaves.clear();
  return leaves;
}

// Removes what only an export of Arrow streams says, for example cfile.type.
void RemoveOwnMetadata(ArrowField& field) {
  std::erase_if(field.metadata,
                [](const auto& pair) { return pair.first.starts_with(kReservedKeyPrefix); });
  for (ArrowField& child : field.children) RemoveOwnMetadata(child);
}

auto FindArrowSchema(const MetadataPairs& pairs) {
  return std::find_if(pairs.begin(), pairs.end(),
                      [](const auto& pair) { return pair.first == kArrowSchema; });
}

// The names of the top-level columns.
std::vector<std::string_view> NamesOf(const RecordSchema& schema) {
  std::vector<std::string_view> names;
  for (size_t i = 1; i < schema.nodes().size(); i = schema.node(i).end)
    names.push_back(schema.node(i).name);
  return names;
}

std::vector<std::string_view> NamesOf(const ArrowField& schema) {
  std::vector<std::string_view> names;
  for (const ArrowField& child : schema.children) names.push_back(child.name);
  return names;
}

// The names of the columns in JSON of pandas: the strings that follow "field_name". A name with an
// escape is returned as it is written, so it is taken for another name.
std::vector<std::string_view> NamesOfPandas(std::string_view json) {
  static constexpr std::string_view kKey = "\"field_name\":";
  std::vector<std::string_view> names;
  while (true) {
    const size_t key = json.find(kKey);
    if (key == std::string_view::npos) return names;
    json.remove_prefix(key + kKey.size());
    json.remove_prefix(std::min(json.find_first_not_of(" \n"), json.size()));
    if (!json.starts_with('"')) continue;  // null: the columns themselves have no name
    names.push_back(json.substr(1, json.find('"', 1) - 1));
  }
}

}  // namespace

MetadataPairs MetadataToKeep(const parquet::FileMetaData& file, const WriterOptions& options) {
  MetadataPairs pairs;
  size_t size_bytes = 0;
  for (const auto& [key, value] : file.key_value_metadata) {
    const auto begins_key = [&](std::string_view prefix) { return key.starts_with(prefix); };
    if (key.starts_with(kReservedKeyPrefix) ||
        std::any_of(std::begin(kPrefixesOfWriters), std::end(kPrefixesOfWriters), begins_key)) {
      continue;
    }
    pairs.emplace_back(key, value.value_or(""));
    size_bytes += key.size() + pairs.back().second.size() + sizeof(pairs[0]);
  }
  // The header holds more than the pairs.
  const size_t most =
      std::min(options.max_metadata_size_bytes, PolicyOf(options).max_metadata_size_bytes) / 2;
  if (size_bytes > most) pairs.clear();
  return pairs;
}

std::vector<ArrowLeaf> ArrowLeavesOf(const MetadataPairs& pairs, size_t num_leaves) {
  const auto arrow = FindArrowSchema(pairs);
  return arrow == pairs.end() ? std::vector<ArrowLeaf>() : LeavesOf(arrow->second, num_leaves);
}

std::vector<ArrowLeaf> ArrowLeavesOf(const parquet::FileMetaData& file) {
  const auto num_leaves = std::count_if(file.schema.begin(), file.schema.end(),
                                        [](const auto& node) { return node.type.has_value(); });
  for (const auto& [key, value] : file.key_value_metadata) {
    if (key == kArrowSchema)
      return LeavesOf(value.value_or(""), static_cast<size_t>(num_leaves));
  }
  return {};
}

void RemoveStalePairs(const RecordSchema& schema, MetadataPairs& pairs) {
  std::erase_if(pairs,
                [](const auto& pair) { return !IsUtf8(pair.first) || !IsUtf8(pair.second); });
  std::vector<std::string_view> names = NamesOf(schema);
  if (const auto arrow = FindArrowSchema(pairs); arrow != pairs.end()) {
    const std::optional<ArrowField> parsed = ParseArrowSchema(arrow->second);
    if (parsed && NamesOf(*parsed) == names) return;
    pairs.erase(arrow);
  }
  std::sort(names.begin(), names.end());
  std::erase_if(pairs, [&](const auto& pair) {
    if (pair.first != kPandas) return false;
    std::vector<std::string_view> found = NamesOfPandas(pair.second);
    std::sort(found.begin(), found.end());
    return found != names;
  });
}

void AddTimeZones(const Schema& schema, const std::vector<size_t>& columns, MetadataPairs& pairs) {
  const auto has_other_zone = [&](size_t column) {
    const std::string& zone = schema.columns[column].type.time_zone;
    return !zone.empty() && zone != "UTC";
  };
  if (std::none_of(columns.begin(), columns.end(), has_other_zone) ||
      FindArrowSchema(pairs) != pairs.end()) {
    return;
  }
  const auto exported = ColumnsToExport(schema, columns, /*string_views=*/false, "");
  if (!exported.ok()) return;
  const auto fields = MakeFieldTree(schema, *exported);
  if (!fields.ok()) return;
  ArrowField root = fields->root.WithChildren();
  RemoveOwnMetadata(root);
  const std::string message = WriteIpcSchemaMessage(root);
  if (message.empty()) return;
  pairs.emplace_back(kArrowSchema, absl::Base64Escape({message.data(), message.size()}));
}

}  // namespace cfile::internal
