#include "cfile/internal/parquet/arrow_description.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "cfile/internal/arrow/field_tree.h"
#include "cfile/internal/arrow_schema/ipc_fields.h"
#include "cfile/internal/arrow_schema/ipc_schema_writer.h"
#include "cfile/internal/format/metadata_keys.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The longest name of a time zone that is taken. Names of the IANA database are shorter.
constexpr size_t kMaxZoneBytes = 64;

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

// Returns the field of a node without what only an export of Arrow streams says, such as cfile.type.
ArrowField FieldOf(const FieldNode& node, const ParquetOfSchema& parquet) {
  ArrowField field = node.field;
  std::erase_if(field.metadata,
                [](const auto& pair) { return pair.first.starts_with(kReservedKeyPrefix); });
  if (node.kind == FieldNode::Kind::kLeaf) {
    const auto& logical = parquet.elements[parquet.leaves[node.source].element].logical_type;
    if (logical && logical->unknown) field.format = "n";
    if (logical && logical->float16) field.format = "e";
  }
  for (const FieldNode& child : node.children) field.children.push_back(FieldOf(child, parquet));
  return field;
}

// Returns the same text for all formats whose values have the same form in Parquet. The units of
// times do not count: Parquet has no seconds, and libraries of Arrow take the unit from the file.
std::string FormInParquet(const std::string& format) {
  if (format == "U" || format == "vu") return "u";
  if (format == "Z" || format == "vz") return "z";
  if (format == "tdm") return "tdD";
  if (format == "+L" || format == "+vl" || format == "+vL" || format.starts_with("+w:")) return "+l";
  if (format.starts_with("tD")) return "l";
  if (format.starts_with("tt")) return "tt";
  if (format.starts_with("ts") && format.size() >= 4) return "ts" + format.substr(3);
  if (format.starts_with("d:")) return format.substr(0, format.find(',', format.find(',') + 1));
  return format;
}

bool Describes(const ArrowField& field, const ArrowField& own, bool has_names) {
  if (!field.dictionary.empty()) return Describes(field.dictionary[0], own, has_names);
  if (field.format == "+r" && field.children.size() == 2)
    return Describes(field.children[1], own, has_names);
  return FormInParquet(field.format) == FormInParquet(own.format) &&
         std::equal(field.children.begin(), field.children.end(), own.children.begin(),
                    own.children.end(), [&](const ArrowField& child, const ArrowField& own_child) {
                      // The names of elements, keys and values may be any.
                      const bool has_inner_names = own.format == "+s" || own.format == "+l";
                      return (!has_names || own.format != "+s" || child.name == own_child.name) &&
                             Describes(child, own_child, has_inner_names);
                    });
}

bool IsSame(const ArrowField& a, const ArrowField& b);

bool AreSame(const std::vector<ArrowField>& a, const std::vector<ArrowField>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), IsSame);
}

bool IsSame(const ArrowField& a, const ArrowField& b) {
  return a.format == b.format && a.name == b.name && a.metadata == b.metadata &&
         a.flags == b.flags && AreSame(a.children, b.children) && AreSame(a.dictionary, b.dictionary);
}

}  // namespace

std::optional<ArrowField> ParseArrowSchema(std::string_view text) {
  std::string message;
  if (!absl::Base64Unescape({text.data(), text.size()}, &message)) return std::nullopt;
  auto schema = ReadIpcSchemaMessage(encodings::AsBytes(message), {});
  return schema.ok() ? std::optional(*std::move(schema)) : std::nullopt;
}

std::string WriteArrowSchema(const ArrowField& root) {
  const std::string message = WriteIpcSchemaMessage(root);
  return absl::Base64Escape({message.data(), message.size()});
}

bool HasSameFields(const ArrowField& a, const ArrowField& b) {
  return AreSame(a.children, b.children);
}

std::vector<ArrowLeaf> ArrowLeavesOf(std::string_view text, size_t num_leaves) {
  const std::optional<ArrowField> schema = ParseArrowSchema(text);
  std::vector<ArrowLeaf> leaves;
  if (schema) {
    for (const ArrowField& field : schema->children) AppendLeaves(field, false, leaves);
  }
  if (leaves.size() != num_leaves) leaves.clear();
  return leaves;
}

absl::StatusOr<ArrowField> FieldsOf(const Schema& schema, const ParquetOfSchema& parquet) {
  std::vector<size_t> columns;
  for (const ParquetLeaf& leaf : parquet.leaves) columns.push_back(leaf.column);
  CFILE_ASSIGN_OR_RETURN(const auto exported,
                         ColumnsToExport(schema, columns, /*string_views=*/false, ""));
  CFILE_ASSIGN_OR_RETURN(const FieldTree fields, MakeFieldTree(schema, exported));
  return FieldOf(fields.root, parquet);
}

bool Describes(const ArrowField& field, const ArrowField& own) {
  return Describes(field, own, /*has_names=*/true);
}

}  // namespace cfile::internal
