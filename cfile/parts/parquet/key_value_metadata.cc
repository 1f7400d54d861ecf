#include "cfile/parts/parquet/key_value_metadata.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "cfile/core/format/file_policy.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/parquet/arrow_fields.h"

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
  return one && other && HasSameFields(*one, *other);
}

void RemoveOrderOfCategories(ArrowField& field) {
  field.flags &= ~int64_t{ARROW_FLAG_DICTIONARY_ORDERED};
  for (ArrowField& child : field.children) RemoveOrderOfCategories(child);
  for (ArrowField& values : field.dictionary) RemoveOrderOfCategories(values);
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
  const bool is_right = kept && others.empty() && HasSameFields(*kept, *arrow.root) &&
                        std::all_of(kept->metadata.begin(), kept->metadata.end(), is_known);
  if (!is_right) text = WriteArrowSchema(*arrow.root);
  if (!text.empty()) pairs.emplace_back(kArrowSchema, std::move(text));
}

}  // namespace cfile::internal
