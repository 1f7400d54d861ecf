#include "tools/dump/totals.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "tools/encoding_reason.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

void AddMetadata(const std::string& name,
                 const std::vector<std::pair<std::string, std::string>>& metadata, Record& facts) {
  Table list(facts.is_json());
  for (const auto& [key, value] : metadata) {
    list.Add({{"key", key}, {"value", value}});
    facts.AddText(name,
                  Printable(key) + " = " + (IsUtf8(value) ? Printable(value) : "0x" + Hex(value)));
  }
  facts.AddJson({{name, list}});
}

void AddTree(const std::string& name, const TreeTotals& tree, Record& facts) {
  if (tree.nodes == 0) return facts.Add(name, nullptr, "none");
  facts.Add(name,
            JsonObject({{"levels", tree.levels},
                        {"nodes", tree.nodes},
                        {"entries", tree.entries},
                        {"bytes", tree.bytes}}),
            absl::StrFormat("%s, %s, %.1f entries per node, %s", Plural(tree.levels, "level"),
                            Plural(tree.nodes, "node"),
                            static_cast<double>(tree.entries) / static_cast<double>(tree.nodes),
                            Plural(tree.bytes, "byte")));
}

// Adds the encoding and the codec of the footer, and the blocks and bytes of each encoding. Text
// has that of the footer only if there are no blocks.
void AddEncodings(const FileInfo& info, const BlockTotals& blocks, Record& facts) {
  const std::string encoding = EncodingName(info.encoding);
  if (blocks.blocks == 0) facts.AddText("encoding", encoding);
  facts.AddJson({{"encoding", encoding},
                 {"block_encodings", blocks.EncodingNames()},
                 {"blocks_by_encoding", blocks.encodings}});
  const bool codec = info.compression != Compression::kNone;
  for (const EncodingTotals& each : blocks.encodings) {
    const double share = blocks.stored_bytes == 0 ? 1
                                                  : static_cast<double>(each.stored_bytes) /
                                                        static_cast<double>(blocks.stored_bytes);
    facts.AddText("encoding",
                  absl::StrFormat("%s: %.3g %% of the bytes, %s", EncodingName(each.encoding),
                                  100 * share, Plural(each.blocks, "block")));
  }
  const std::string name = CompressionName(info.compression);
  facts.Add("compression", name,
            codec && blocks.blocks > 0 ? absl::StrCat(name, ": ", blocks.compressed_blocks(),
                                                      " of ", Plural(blocks.blocks, "block"))
                                       : name);
}

// Adds the statistics, if the file has any.
absl::Status AddStatistics(const Reader& reader, Record& facts) {
  CFILE_ASSIGN_OR_RETURN(const auto statistics, reader.Statistics());
  if (statistics == nullptr) {
    // If the file has statistics, they were not read because they exceed a limit.
    if (reader.info().statistics) {
      facts.Add("statistics", *reader.info().statistics,
                absl::StrCat(Plural(reader.info().statistics->size, "byte"),
                             ", above --max-bloom-filter-size, not read"));
    }
    return absl::OkStatus();
  }
  const BlockStatistics& file = statistics->file;
  facts.AddBounds(reader.type(), file, /*max_bytes=*/60);
  if (file.nan_count > 0) facts.Add("nan", file.nan_count);
  facts.Add("block_statistics", statistics->blocks.size(),
            Plural(statistics->blocks.size(), "block"));
  const std::string& filter = statistics->bloom_filter;
  const BloomFilterInfo bloom = reader.info().bloom_filter.value_or(DescribeBloomFilter(filter));
  facts.Add("bloom_filter", filter.size(),
            filter.empty() ? "none"
                           : absl::StrFormat("%s for about %d distinct values",
                                             Plural(filter.size(), "byte"), bloom.distinct_values));
  if (!filter.empty()) {
    facts.AddJson({{"bloom_filter_values", bloom.distinct_values},
                   {"bloom_filter_bits_per_value", Rounded(bloom.bits_per_value())}});
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> CompatibleFeatureNames(uint32_t features, std::string_view unknown) {
  std::vector<std::string> names;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    const uint32_t feature = features & uint32_t{1} << bit;
    if (feature == kCompatibleFeatureStatistics) {
      names.emplace_back("statistics");
    } else if (feature != 0) {
      names.push_back(StrCat(unknown, bit));
    }
  }
  return names;
}

absl::Status AddFileFacts(const Reader& reader, const BlockTotals& blocks, Record& facts) {
  const FileInfo& info = reader.info();
  const TreeTotals positional = MeasureTree(reader, IndexKind::kPositional);
  const TreeTotals value = MeasureTree(reader, IndexKind::kValue);
  absl::Status status = blocks.status;
  status.Update(positional.status);
  status.Update(value.status);

  // If some blocks could not be read, counts in the text are marked as incomplete, and what is
  // computed from all values is not known. In JSON, both are null.
  const bool known = blocks.status.ok();
  const std::string mark = known ? "" : " (incomplete)";
  std::vector<std::string> features = FeatureNames(info.incompatible_features);
  for (std::string& name : CompatibleFeatureNames(info.compatible_features, "compatible bit ")) {
    features.push_back(std::move(name));
  }
  facts.Add("size", info.file_size_bytes, Plural(info.file_size_bytes, "byte"));
  facts.Add("version", static_cast<uint64_t>(info.version));
  facts.Add("created_by", Known(!info.created_by.empty(), info.created_by),
            info.created_by.empty() ? "not recorded" : Printable(info.created_by));
  facts.AddBytes("type", info.type.ToString());
  facts.AddFlag("nullable", info.nullable);
  if (info.has_levels()) {
    facts.Add("levels", info.levels,
              absl::StrCat("repetition to ", info.levels.max_repetition, ", definition to ",
                           info.levels.max_definition));
  }
  facts.Add("rows", info.num_rows);
  if (info.has_levels()) {
    facts.Add("entries", Known(known, blocks.entries), absl::StrCat(blocks.entries, mark));
  }
  facts.Add("nulls", Known(known, blocks.nulls), absl::StrCat(blocks.nulls, mark));
  status.Update(AddStatistics(reader, facts));
  facts.Add("order", Known(info.value_index_root.has_value(), "ascending"),
            info.value_index_root ? "ascending" : "not declared");
  AddEncodings(info, blocks, facts);
  if (const auto& choice = info.choice) {
    facts.Add(
        "choice", *choice,
        absl::StrCat("goal ", GoalName(choice->goal), ": ", ChoiceText(*choice, info.compression)));
  } else {
    facts.AddJson({{"choice", nullptr}});
  }
  facts.Add("blocks", Known(known, blocks.blocks), absl::StrCat(blocks.blocks, mark));
  facts.Add("stored", Known(known, blocks.stored_bytes),
            Plural(blocks.stored_bytes, "byte") + mark);
  facts.Add("encoded", Known(known, blocks.encoded_bytes),
            Plural(blocks.encoded_bytes, "byte") + mark);
  facts.Add("decoded", Known(known, blocks.decoded_bytes),
            known ? Plural(blocks.decoded_bytes, "byte") : "-");
  const double codec_ratio = Ratio(blocks.encoded_bytes, blocks.stored_bytes);
  const double ratio = Ratio(blocks.decoded_bytes, blocks.stored_bytes);
  facts.Add("ratio", Known(known, Rounded(ratio)),
            absl::StrFormat("decoded / stored %s, encoded / stored %.2f%s",
                            known ? absl::StrFormat("%.2f", ratio) : "-", codec_ratio, mark));
  facts.AddJson({{"encoded_ratio", Known(known, Rounded(codec_ratio))}});
  const double bits_per_value =
      BitsPerValue(blocks.stored_bytes, info.has_levels() ? blocks.entries : info.num_rows);
  facts.Add("bits_per_value", Known(known, Rounded(bits_per_value)),
            known ? absl::StrFormat("%.2f", bits_per_value) : "-");
  if (info.dictionary) {
    facts.Add("dictionary", *info.dictionary,
              absl::StrCat(Plural(info.dictionary->size, "byte"), " at ", info.dictionary->offset));
  } else {
    facts.Add("dictionary", nullptr, "none");
  }
  AddTree("positional_index", positional, facts);
  AddTree("value_index", value, facts);
  facts.AddFlag("checksums", info.has_checksums());
  facts.Add("features", features, features.empty() ? "none" : absl::StrJoin(features, ", "));
  AddMetadata("header_metadata", info.header_metadata, facts);
  AddMetadata("footer_metadata", info.footer_metadata, facts);
  return status;
}

}  // namespace cfile::tools
