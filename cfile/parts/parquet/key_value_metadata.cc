#include "cfile/parts/parquet/key_value_metadata.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "cfile/core/format/file_policy.h"
#include "cfile/parts/arrow/field_tree.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr std::string_view kPandas = "pandas";

// With these pairs, Spark, Avro and other users of parquet-java describe their own schema.
constexpr std::string_view kPrefixesOfWriters[] = {"org.apache.spark.", "parquet.avro.",
                                                   "avro.schema",       "parquet.proto.",
                                                   "thrift.",           "writer.model.name"};

auto Find(const MetadataPairs& pairs, std::string_view key) {
  return std::find_if(pairs.begin(), pairs.end(),
                      [&](const auto& pair) { return pair.first == key; });
}

std::string WithoutRangeIndex(std::string_view pandas) {
  const auto any = [](std::string_view) { return true; };
  return DescribeForPandas(pandas, std::nullopt, any, any);
}

// True if two pairs with the same key say the same about the columns.
bool Agree(const std::pair<std::string, std::string>& a,
           const std::pair<std::string, std::string>& b) {
  if (a.second == b.second) return true;
  if (a.first == kPandas) return WithoutRangeIndex(a.second) == WithoutRangeIndex(b.second);
  if (a.first != kArrowSchema) return false;
  const auto one = ParseArrowSchema(a.second), other = ParseArrowSchema(b.second);
  return one && other && one->children == other->children;
}

void RemoveOrderOfCategories(ArrowField& field) {
  field.flags &= ~int64_t{ARROW_FLAG_DICTIONARY_ORDERED};
  for (ArrowField& child : field.children) RemoveOrderOfCategories(child);
  for (ArrowField& values : field.dictionary) RemoveOrderOfCategories(values);
}

// Returns the Arrow field of a node, without the metadata that cfile's exports of Arrow streams add
// (for example cfile.type).
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

// The fields of ARROW:schema for the exported columns.
struct ArrowFields {
  std::optional<ArrowField> root;  // nullopt: the pair is not needed
  std::set<std::string> changed;   // the columns for which the pair has another type
};

ArrowFields FieldsForExport(const Schema& schema, const ParquetOfSchema& parquet,
                            const std::set<std::string, std::less<>>& ordered,
                            const std::optional<ArrowField>& kept) {
  ArrowFields result;
  absl::StatusOr<ArrowField> own = FieldsOf(schema, parquet);
  if (!own.ok()) return result;
  const auto has_other_zone = [&](const ParquetLeaf& leaf) {
    const std::string& zone = schema.columns[leaf.column].type.time_zone;
    return !zone.empty() && zone != "UTC";
  };
  bool needed = std::any_of(parquet.leaves.begin(), parquet.leaves.end(), has_other_zone);
  if (kept) {
    std::map<std::string_view, const ArrowField*> by_name;
    for (const ArrowField& field : kept->children) by_name.emplace(field.name, &field);
    for (ArrowField& field : own->children) {
      const auto found = by_name.find(field.name);
      if (found == by_name.end()) continue;
      if (Describes(*found->second, field)) {
        field = *found->second;
        if (!ordered.contains(field.name)) RemoveOrderOfCategories(field);
        needed = true;
      } else {
        result.changed.insert(field.name);
      }
    }
  }
  if (needed) result.root = *std::move(own);
  return result;
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

MetadataPairs MetadataToKeep(const parquet::FileMetaData& file, const Categories& categories,
                             const WriterOptions& options) {
  MetadataPairs pairs;
  size_t size_bytes = 0;
  for (const auto& [key, value] : file.key_value_metadata) {
    // clang 14 cannot capture a structured binding.
    const auto begins_key = [&name = key](std::string_view prefix) {
      return name.starts_with(prefix);
    };
    if (key.starts_with(kReservedKeyPrefix) || key == kCategories ||
        std::any_of(std::begin(kPrefixesOfWriters), std::end(kPrefixesOfWriters), begins_key)) {
      continue;
    }
    pairs.emplace_back(key, value.value_or(""));
    size_bytes += key.size() + pairs.back().second.size() + sizeof(pairs[0]);
  }
  if (size_bytes > MaxKeptBytes(options)) return {};
  if (categories.empty()) return pairs;
  std::string text = WriteCategories(categories);
  if (text.size() <= MaxKeptBytes(options) - size_bytes)
    pairs.emplace_back(kCategories, std::move(text));
  return pairs;
}

size_t MaxKeptBytes(const WriterOptions& options) {
  // The header holds more than the pairs.
  return std::min(options.max_metadata_size_bytes, PolicyOf(options).max_metadata_size_bytes) / 2;
}

void KeepAgreedPairs(const MetadataPairs& other, MetadataPairs& pairs) {
  std::erase_if(pairs, [&](const auto& pair) {
    const auto found = Find(other, pair.first);
    return found == other.end() || !Agree(pair, *found);
  });
}

Categories TakeCategories(MetadataPairs& pairs) {
  const auto found = Find(pairs, kCategories);
  if (found == pairs.end()) return {};
  Categories categories = ParseCategories(found->second);
  pairs.erase(found);
  return categories;
}

void RemoveOrderOfRows(MetadataPairs& pairs) {
  for (auto& [key, value] : pairs) {
    if (key == kPandas) value = WithoutRangeIndex(value);
  }
  std::erase_if(pairs,
                [](const auto& pair) { return pair.first == kPandas && pair.second.empty(); });
}

std::vector<ArrowLeaf> ArrowLeavesOf(const MetadataPairs& pairs, size_t num_leaves) {
  const auto arrow = Find(pairs, kArrowSchema);
  return arrow == pairs.end() ? std::vector<ArrowLeaf>() : ArrowLeavesOf(arrow->second, num_leaves);
}

void DescribeColumns(const Schema& schema, const ParquetOfSchema& parquet, uint64_t num_rows,
                     const std::set<std::string, std::less<>>& ordered, const MetadataPairs& others,
                     MetadataPairs& pairs) {
  const auto is_text = [](const auto& pair) { return IsUtf8(pair.first) && IsUtf8(pair.second); };
  std::erase_if(pairs, [&](const auto& pair) {
    return !is_text(pair) || Find(others, pair.first) != others.end();
  });
  // Of the pairs with the same key, the first one counts.
  std::set<std::string> keys;
  std::erase_if(pairs, [&](const auto& pair) { return !keys.insert(pair.first).second; });
  std::string text;
  if (const auto found = Find(pairs, kArrowSchema); found != pairs.end()) {
    text = found->second;
    pairs.erase(found);
  }
  const std::optional<ArrowField> kept = ParseArrowSchema(text);
  ArrowFields arrow = FieldsForExport(schema, parquet, ordered, kept);
  std::set<std::string_view> names;
  const RecordSchema& tree = *parquet.tree;
  for (size_t i = 1; i < tree.nodes().size(); i = tree.node(i).end) {
    if (!arrow.changed.contains(tree.node(i).name)) names.insert(tree.node(i).name);
  }
  std::erase_if(pairs, [&](auto& pair) {
    if (pair.first != kPandas) return false;
    pair.second = DescribeForPandas(
        pair.second, num_rows, [&](std::string_view name) { return names.contains(name); },
        [&](std::string_view name) { return ordered.contains(name); });
    return pair.second.empty();
  });
  if (!arrow.root || Find(others, kArrowSchema) != others.end()) return;
  // Arrow C++ takes the pairs from the schema of Arrow. It ignores the pairs of the file.
  std::copy_if(others.begin(), others.end(), std::back_inserter(arrow.root->metadata), is_text);
  arrow.root->metadata.insert(arrow.root->metadata.end(), pairs.begin(), pairs.end());
  const auto is_known = [&](const auto& pair) {
    const MetadataPairs& all = arrow.root->metadata;
    return std::find(all.begin(), all.end(), pair) != all.end();
  };
  // The text of the writer is kept if it is right.
  const bool is_right = kept && others.empty() && kept->children == arrow.root->children &&
                        std::all_of(kept->metadata.begin(), kept->metadata.end(), is_known);
  if (!is_right) text = WriteArrowSchema(*arrow.root);
  if (!text.empty()) pairs.emplace_back(kArrowSchema, std::move(text));
}

}  // namespace cfile::internal
