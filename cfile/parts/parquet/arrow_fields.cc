#include "cfile/parts/parquet/arrow_fields.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cfile/core/format/metadata_keys.h"
#include "cfile/parts/arrow/field_tree.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Returns the field of a node without what only an export of Arrow streams says, such as
// cfile.type.
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
  if (format == "+L" || format == "+vl" || format == "+vL") return "+l";
  if (format.starts_with("+w:")) return "+l";
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
  // A column stores float16 as float, and null as strings (cfile/arrow_import.h).
  if ((field.format == "e" && own.format == "f") || (field.format == "n" && own.format == "u"))
    return true;
  return FormInParquet(field.format) == FormInParquet(own.format) &&
         std::equal(field.children.begin(), field.children.end(), own.children.begin(),
                    own.children.end(), [&](const ArrowField& child, const ArrowField& own_child) {
                      // The names of elements, keys and values may be any.
                      const bool has_inner_names = own.format == "+s" || own.format == "+l";
                      return (!has_names || own.format != "+s" || child.name == own_child.name) &&
                             Describes(child, own_child, has_inner_names);
                    });
}

}  // namespace

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
