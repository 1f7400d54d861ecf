#include "tools/dump/totals.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "cfile/levels.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kChecksumBytes = 4;

// True if the totals can be computed from the positional index alone, without reading data blocks.
bool IndexKnowsAll(const FileInfo& info) {
  return info.positional_index_root && !info.nullable && info.compression == Compression::kNone &&
         !info.has_extended_blocks() && !info.has_levels();
}

// The number of bytes of all strings that `cursor` reads.
template <typename C>
absl::StatusOr<uint64_t> TextBytes(absl::StatusOr<C> cursor) {
  if (!cursor.ok()) return cursor.status();
  uint64_t bytes = 0;
  for (const auto& batch : cursor->Batches()) {
    if (!batch.ok()) return batch.status();
    for (const std::string_view value : batch->values) bytes += value.size();  // a null has size 0
  }
  return bytes;
}

// Returns BlockTotals::decoded_bytes of one file. `present_count`: the number of values that are
// not null.
absl::StatusOr<uint64_t> DecodedBytes(const Reader& reader, uint64_t present_count) {
  const ColumnType& type = reader.type();
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<uint64_t> {
    if constexpr (kIsBytes<T>) {
      if (type.type_length > 0) return present_count * type.type_length;
      return reader.info().has_levels() ? TextBytes(reader.NewLevelCursor<T>())
                                        : TextBytes(reader.NewCursor<T>());
    } else {
      return present_count * sizeof(T);
    }
  });
}

}  // namespace

bool BlockTotals::ReadsTwice(const Reader& reader) {
  const ColumnType& type = reader.type();
  if (type.type_length > 0 || IndexKnowsAll(reader.info())) return false;
  return VisitType(type, []<typename T>(std::type_identity<T>) { return kIsBytes<T>; });
}

void BlockTotals::Add(const BlockTotals& other) {
  blocks += other.blocks;
  nulls += other.nulls;
  entries += other.entries;
  stored_bytes += other.stored_bytes;
  encoded_bytes += other.encoded_bytes;
  decoded_bytes += other.decoded_bytes;
  AddTo(encodings, other.encodings);
  status.Update(other.status);
}

void BlockTotals::Add(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit) {
  const uint64_t nulls_before = nulls, entries_before = entries;
  const bool all = AddBlocks(reader, visit);
  if (!all || !status.ok() || reader.info().holds_bloom_filters()) return;
  const uint64_t of_file =
      reader.info().has_levels() ? entries - entries_before : reader.num_rows();
  const auto decoded = DecodedBytes(reader, of_file - (nulls - nulls_before));
  status.Update(decoded.status());
  decoded_bytes += decoded.value_or(0);
}

// Returns false if `visit` did.
bool BlockTotals::AddBlocks(const Reader& reader,
                            const std::function<bool(const BlockInfo&)>& visit) {
  const FileInfo& info = reader.info();
  bool more = true;
  if (visit || !IndexKnowsAll(info)) {
    status.Update(VisitBlocks(reader, [&](const BlockInfo& block) {
      AddBlock(block.encoding, block.stored_size_bytes, block.encoded_size_bytes, block.compressed);
      nulls += block.null_count;
      entries += block.num_entries;
      return more = !visit || visit(block);
    }));
    return more;
  }
  status.Update(VisitIndex(reader, IndexKind::kPositional, [&](const IndexNodeInfo& node) {
    if (!node.leaf) return true;
    for (const IndexEntryInfo& entry : node.entries) {
      const uint64_t bytes = entry.pointer.size - (info.has_checksums() ? kChecksumBytes : 0);
      AddBlock(info.encoding, bytes, bytes, /*compressed=*/false);
    }
    return true;
  }));
  return true;
}

void BlockTotals::AddBlock(Encoding encoding, uint64_t stored, uint64_t encoded, bool compressed) {
  ++blocks;
  stored_bytes += stored;
  encoded_bytes += encoded;
  EncodingTotals& totals = TotalsOf(encoding, encodings);
  ++totals.blocks;
  totals.compressed_blocks += compressed;
  totals.stored_bytes += stored;
}

std::vector<std::string> BlockTotals::EncodingNames() const {
  std::vector<std::string> names;
  for (const EncodingTotals& each : encodings) names.push_back(EncodingName(each.encoding));
  return names;
}

uint64_t BlockTotals::compressed_blocks() const {
  uint64_t count = 0;
  for (const EncodingTotals& each : encodings) count += each.compressed_blocks;
  return count;
}

TreeTotals MeasureTree(const Reader& reader, IndexKind kind) {
  TreeTotals totals;
  totals.status = VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    totals.levels = std::max<uint64_t>(totals.levels, node.depth + 1);
    ++totals.nodes;
    totals.entries += node.entries.size();
    totals.bytes += node.pointer.size;
    return true;
  });
  return totals;
}

void ColumnBounds::Add(const Reader& reader) {
  const auto statistics = reader.Statistics();
  if (!statistics.ok() || *statistics == nullptr) {
    complete = false;
    return;
  }
  const BlockStatistics& file = (*statistics)->file;
  merged.present_count += file.present_count;
  merged.null_count += file.null_count;
  merged.nan_count += file.nan_count;
  if (file.present_count == file.nan_count) return;  // no value has an order
  // A bound that one part lacks is unknown for the column.
  const auto merge = [this](std::optional<std::string>& bound, bool& exact,
                            const std::optional<std::string>& key, bool key_exact, bool less) {
    if (empty_ || (bound && key && (less ? *key < *bound : *key > *bound))) {
      bound = key;
      exact = key_exact;
    } else if (!key) {
      bound.reset();
    }
  };
  merge(merged.min_key, merged.min_exact, file.min_key, file.min_exact, true);
  merge(merged.max_key, merged.max_exact, file.max_key, file.max_exact, false);
  empty_ = false;
}

EncodingTotals& TotalsOf(Encoding encoding, std::vector<EncodingTotals>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const EncodingTotals& each) {
    return each.encoding == encoding;
  });
  return found != list.end() ? *found : list.emplace_back(EncodingTotals{.encoding = encoding});
}

void AddTo(std::vector<EncodingTotals>& sums, const std::vector<EncodingTotals>& added) {
  for (const EncodingTotals& each : added) {
    EncodingTotals& sum = TotalsOf(each.encoding, sums);
    sum.blocks += each.blocks;
    sum.compressed_blocks += each.compressed_blocks;
    sum.stored_bytes += each.stored_bytes;
  }
}

uint64_t BytesOf(const TableReader& table) {
  uint64_t bytes = 0;
  for (size_t number = 0; number < table.num_parts(); ++number) {
    const auto part = table.part(number);
    if (!part.ok()) return 0;
    bytes += part->size_bytes;
  }
  return bytes;
}

void AddName(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

double BitsPerValue(uint64_t bytes, uint64_t values) {
  return values == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(values);
}

double Rounded(double value) {
  return static_cast<double>(static_cast<int64_t>(value * 100 + 0.5)) / 100;
}

}  // namespace cfile::tools
