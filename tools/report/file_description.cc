#include "tools/report/file_description.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "tools/columns/stored_column.h"
#include "tools/dump/column_text.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kShownBytes = 60;  // the most bytes of a bound, a key or a value on the page

// The 16 bytes of `key` from `begin` on as an integer, with zeros after the end of the key.
uint128_t KeyNumber(const std::string& key, size_t begin) {
  uint128_t number = 0;
  for (size_t i = begin; i < begin + sizeof(number); ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

// The number whose key is `key`. nullopt: the values are not floats.
std::optional<double> FloatOf(const ColumnType& type, const std::string& key) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> std::optional<double> {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr double kMost = 1e300;  // for infinities, so that differences are finite
      const auto value = BlockStatistics{.min_key = key}.Min<T>();
      return value ? std::clamp<double>(*value, -kMost, kMost) : 0;
    }
    return std::nullopt;
  });
}

// Says where values lie between the least and the greatest value of a file, for charts.
class ValueScale {
 public:
  ValueScale(const ColumnType& type, const BlockStatistics& bounds)
      : type_(type), min_key_(bounds.max_key ? bounds.min_key : std::nullopt) {
    if (!min_key_) return;
    const std::string& max_key = *bounds.max_key;
    while (common_bytes_ < std::min(min_key_->size(), max_key.size()) &&
           (*min_key_)[common_bytes_] == max_key[common_bytes_]) {
      ++common_bytes_;
    }
    range_ = Distance(max_key);
  }

  // The place of a value between the bounds of the file, from 0 to 1, with four digits after the
  // point: numbers by their difference to the bounds, other values by their order. nullopt: the
  // value or a bound of the file is not known. `key`: the value in memcmp form.
  std::optional<double> Place(const std::optional<std::string>& key) const {
    if (!key || !min_key_) return std::nullopt;
    if (range_ <= 0) return 0;
    return std::round(std::clamp(Distance(*key) / range_, 0.0, 1.0) * 1e4) / 1e4;
  }

 private:
  // The distance of a value to the least value.
  double Distance(const std::string& key) const {
    if (const auto value = FloatOf(type_, key)) return *value - *FloatOf(type_, *min_key_);
    const uint128_t number = KeyNumber(key, common_bytes_);
    const uint128_t low = KeyNumber(*min_key_, common_bytes_);
    return number < low ? 0 : static_cast<double>(number - low);
  }

  const ColumnType type_;
  const std::optional<std::string> min_key_;
  size_t common_bytes_ = 0;  // the length of the prefix that both bounds have
  double range_ = 0;         // the distance between both bounds
};

// What is known about a data block. `rows`, `entries` and `nulls` are known if VisitBlocks could
// read the block.
struct Block {
  Encoding encoding = Encoding::kPlain;
  bool compressed = false;
  uint64_t encoded_bytes = 0;
  std::optional<uint64_t> rows;
  std::optional<uint64_t> entries;
  std::optional<uint64_t> nulls;
};
using Blocks = std::unordered_map<uint64_t, Block>;  // by offset

bool IsDataBlock(const FileRegion& region) { return region.kind == RegionKind::kDataBlock; }

// Reads the data blocks, and adds them to `totals` up to a damaged block. The blocks that are left
// are described one by one, if they are among the first `max_regions` regions.
absl::StatusOr<Blocks> ReadBlocks(const Reader& reader, const std::vector<FileRegion>& regions,
                                  size_t max_regions,
                                  const std::function<absl::Status(uint64_t)>& progress,
                                  BlockTotals& totals) {
  Blocks blocks;
  absl::Status cancelled;
  totals.Add(reader, [&](const BlockInfo& block) {
    blocks[block.pointer.offset] = {block.encoding, block.compressed,  block.encoded_size_bytes,
                                    block.num_rows, block.num_entries, block.null_count};
    cancelled = progress(block.pointer.size);
    return cancelled.ok();
  });
  CFILE_RETURN_IF_ERROR(cancelled);
  if (totals.status.ok()) return blocks;
  for (size_t i = 0; i < std::min(max_regions, regions.size()); ++i) {
    if (!IsDataBlock(regions[i]) || blocks.contains(regions[i].offset)) continue;
    CFILE_RETURN_IF_ERROR(progress(regions[i].size_bytes));
    const auto details = DescribeRegion(reader, regions[i]);
    if (!details.ok() || details->fields.empty()) continue;
    blocks[regions[i].offset] = {details->encoding, details->compressed, details->bytes.size(),
                                 std::nullopt,      std::nullopt,        std::nullopt};
  }
  return blocks;
}

// Returns the number of rows of the data block `regions[i]`: the difference of the first rows of
// this and the next block in the positional index. nullopt: one is not known.
std::optional<uint64_t> RowsByIndex(const std::vector<FileRegion>& regions, size_t i,
                                    uint64_t num_rows) {
  const std::optional<uint64_t> first = regions[i].first_ordinal;
  if (!first) return std::nullopt;
  const auto next = std::find_if(regions.begin() + i + 1, regions.end(), IsDataBlock);
  const std::optional<uint64_t> end = next == regions.end() ? num_rows : next->first_ordinal;
  if (!end || *end < *first) return std::nullopt;
  return *end - *first;
}

// A bound as the page shows it.
std::optional<std::string> Shown(const std::optional<std::string>& bound) {
  return bound ? std::optional(BoundInLine(bound, kShownBytes)) : std::nullopt;
}

template <typename T>
std::string ValueInLine(const ColumnType& type, const T& value) {
  std::string text;
  AppendValue<T>(type, value, Form::kText, text);
  return CutInLine(text, kShownBytes);
}

// The texts of the first values from row `first_row` on, at most `max_values`; in a file with
// levels, of at most `max_values` records. The text of a null is "null". Empty: the values cannot
// be read.
template <typename T>
std::vector<std::string> ReadValues(const Reader& reader, uint64_t first_row, size_t max_values) {
  std::vector<std::string> texts;
  const auto read = ReadRows<T>(ColumnOf(reader), {first_row, first_row + max_values});
  const absl::StatusOr<Rows<T>> rows = read.ok() ? (*read)(max_values) : read.status();
  if (!rows.ok()) return texts;
  const bool flat = rows->levels.num_entries == 0;
  const std::span<const T> values = flat ? rows->flat.values : rows->levels.values;
  for (size_t i = 0; i < std::min(max_values, values.size()); ++i) {
    texts.push_back(flat && !rows->flat.IsValid(i) ? "null"
                                                   : ValueInLine<T>(reader.type(), values[i]));
  }
  return texts;
}

// Returns a list for each of `regions`: that of a data block has the texts of ReadValues, other
// lists are empty. Long texts are cut and end with "...". If a list would bring the text of all
// lists above `max_bytes` bytes, this list and all later lists are empty.
std::vector<std::vector<std::string>> FirstValues(const Reader& reader,
                                                  std::span<const FileRegion> regions,
                                                  size_t max_values, size_t max_bytes) {
  std::vector<std::vector<std::string>> lists(regions.size());
  size_t bytes = 0;
  for (size_t i = 0; max_values > 0 && i < regions.size(); ++i) {
    if (!IsDataBlock(regions[i]) || !regions[i].first_ordinal) continue;
    std::vector<std::string> texts =
        VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) {
          return ReadValues<T>(reader, *regions[i].first_ordinal, max_values);
        });
    for (const std::string& text : texts) bytes += text.size();
    if (bytes > max_bytes) break;
    lists[i] = std::move(texts);
  }
  return lists;
}

Json RegionsJson(const Reader& reader, const std::vector<FileRegion>& regions, const Blocks& blocks,
                 const FileStatistics& statistics, const PageShare& share) {
  const size_t described = std::min(regions.size(), share.regions);
  const std::span<const FileRegion> shown(regions.data(), described);
  auto values = FirstValues(reader, shown, share.values_per_block, share.value_bytes);
  const ValueScale scale(reader.type(), statistics.file);
  Table list(/*json=*/true);
  for (size_t i = 0; i < described; ++i) {
    const FileRegion& region = regions[i];
    Record& record = list.Add({{"kind", RegionKindName(region.kind)},
                               {"offset", region.offset},
                               {"size", region.size_bytes},
                               {"first_row", region.first_ordinal}});
    if (IsDataBlock(region)) {
      record.AddJson({{"index", region.index}});
      std::optional<uint64_t> rows, nulls;
      if (const auto found = blocks.find(region.offset); found != blocks.end()) {
        const Block& block = found->second;
        rows = block.rows;
        nulls = block.nulls;
        record.AddJson({{"encoding", EncodingName(block.encoding)},
                        {"compressed", block.compressed},
                        {"encoded", block.encoded_bytes}});
        if (block.entries != rows) record.AddJson({{"entries", block.entries}});
      }
      if (!rows && !reader.info().has_levels()) rows = RowsByIndex(regions, i, reader.num_rows());
      if (region.index < statistics.blocks.size()) {
        const BlockStatistics& block = statistics.blocks[region.index];
        if (!nulls) nulls = block.null_count;
        const BoundTexts bounds = TextOfBounds(reader.type(), block);
        record.AddJson({{"minimum", Shown(bounds.min)},
                        {"maximum", Shown(bounds.max)},
                        {"low", scale.Place(block.min_key)},
                        {"high", scale.Place(block.max_key)}});
      }
      record.AddJson({{"rows", rows}, {"nulls", nulls}});
      if (!values[i].empty()) record.AddJson({{"values", values[i]}});
    } else if (region.kind == RegionKind::kPositionalNode ||
               region.kind == RegionKind::kValueNode) {
      record.AddJson({{"depth", region.index}});
    }
  }
  if (described < regions.size()) {
    const uint64_t begin = regions[described].offset;
    list.Add({{"kind", "more"},
              {"offset", begin},
              {"size", regions.back().end() - begin},
              {"count", regions.size() - described}});
  }
  return list.json();
}

// The key of an index entry, for the page: an ordinal in a positional index, the text of a value in
// a value index. In a value index, a key may have only the first bytes of the memcmp form. For
// types of fixed size, zeros replace the missing bytes. If a key is not the form of any value, its
// bytes in hexadecimal digits.
Json KeyJson(const ColumnType& type, IndexKind kind, const IndexEntryInfo& entry) {
  if (kind == IndexKind::kPositional) return JsonOf(entry.ordinal);
  std::string key = entry.key;
  VisitType(type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, std::string_view>) key.resize(sizeof(T));
  });
  const BoundTexts texts = TextOfBounds(type, {.min_key = key});
  return BoundInLine(texts.min ? texts.min : "0x" + Hex(entry.key), kShownBytes);
}

// Describes the index. Returns null if the file has no such index.
Json IndexJson(const Reader& reader, IndexKind kind, size_t max_entries) {
  const FileInfo& info = reader.info();
  const bool positional = kind == IndexKind::kPositional;
  if (!(positional ? info.positional_index_root : info.value_index_root)) return nullptr;
  Table nodes(/*json=*/true);
  size_t entries = 0;
  const absl::Status status = VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    Json list = Json::array();
    for (const IndexEntryInfo& entry : node.entries) {
      if (++entries > max_entries) return false;
      list.push_back(Json::array({KeyJson(info.type, kind, entry), JsonOf(entry.pointer.offset)}));
    }
    nodes.Add({{"depth", node.depth},
               {"leaf", node.leaf},
               {"offset", node.pointer.offset},
               {"size", node.pointer.size},
               {"entries", std::move(list)}});
    return true;
  });
  return JsonObject({{"nodes", nodes}, {"complete", status.ok() && entries <= max_entries}});
}

// Collects facts as pairs of a name and a text.
class PageFacts final : public Record {
 public:
  PageFacts() : Record(/*json=*/false) {}
  void AddText(std::string_view name, const std::string& text) override {
    constexpr size_t kMaxBytes = 2000;
    pairs.push_back(Json::array(
        {absl::StrReplaceAll(std::string(name), {{"_", " "}}), CutInLine(text, kMaxBytes)}));
  }
  Json pairs = Json::array();
};

}  // namespace

absl::StatusOr<FileDescription> DescribeFile(
    const Reader& reader, const PageShare& share,
    const std::function<absl::Status(uint64_t bytes)>& progress) {
  FileDescription file;
  const FileInfo& info = reader.info();
  const std::vector<FileRegion> regions = ListRegions(reader).regions;
  CFILE_ASSIGN_OR_RETURN(const Blocks blocks,
                         ReadBlocks(reader, regions, share.regions, progress, file.totals));
  const auto read = reader.Statistics();
  const FileStatistics statistics = read.ok() && *read != nullptr ? **read : FileStatistics();
  PageFacts facts;
  AddFileFacts(reader, file.totals, facts).IgnoreError();  // it is one of the findings
  file.json =
      JsonObject({{"size", info.file_size_bytes},
                  {"rows", info.num_rows},
                  {"facts", std::move(facts.pairs)},
                  {"regions", RegionsJson(reader, regions, blocks, statistics, share)},
                  {"positional_index", IndexJson(reader, IndexKind::kPositional, share.regions)},
                  {"value_index", IndexJson(reader, IndexKind::kValue, share.regions)}});
  return file;
}

}  // namespace cfile::tools
