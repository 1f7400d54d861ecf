// What a file consists of: for tools that show, check and explain files. Nothing here is needed to
// read values. Any number of threads may call these at once, also with the same Reader, which must
// outlive the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile {

class Reader;

// A stored block: bytes [offset, offset + size) of the file, the checksum included.
struct BlockPointer {
  uint64_t offset = 0;  // bytes
  uint32_t size = 0;    // bytes
  uint64_t end() const { return offset + size; }
  friend bool operator==(const BlockPointer&, const BlockPointer&) = default;
};

// Feature bits of the footer (cfile/FORMAT.md, File).
inline constexpr uint32_t kFeatureChecksums = 1u << 0;
inline constexpr uint32_t kFeatureArrayBlocks = 1u << 1;
inline constexpr uint32_t kFeatureNestedBlocks = 1u << 29;
inline constexpr uint32_t kFeatureExtendedBlocks = 1u << 30;

// Feature bits that a reader need not know.
inline constexpr uint32_t kCompatibleFeatureStatistics = 1u << 0;

// A Bloom filter of all values of a file (cfile/FORMAT.md, Statistics).
struct BloomFilterInfo {
  static constexpr uint64_t kBlockBytes = 32;

  uint64_t size_bytes = 0;       // a multiple of kBlockBytes
  uint64_t distinct_values = 0;  // counted, or estimated to 1 % if they are many

  uint64_t num_blocks() const { return size_bytes / kBlockBytes; }
  // Bits for each distinct value; 0 if there are no values.
  double bits_per_value() const {
    return distinct_values == 0
               ? 0
               : 8 * static_cast<double>(size_bytes) / static_cast<double>(distinct_values);
  }
  friend bool operator==(const BloomFilterInfo&, const BloomFilterInfo&) = default;
};

// What the bits of a filter (FileStatistics::bloom_filter) tell of it; the number of values is an
// estimate. For files whose footer does not describe their filter.
BloomFilterInfo DescribeBloomFilter(std::string_view filter);

// What header and footer say.
struct FileInfo {
  FormatVersion version = FormatVersion::kV2;
  uint64_t file_size_bytes = 0;
  uint64_t header_size_bytes = 0;  // from the file's start, the magic included
  uint64_t footer_size_bytes = 0;  // to the file's end, the magic included
  ColumnType type;
  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;
  bool nullable = false;    // with levels: an entry may hold no value
  uint64_t num_values = 0;  // nulls included; with levels: records
  // Of a file with levels (cfile/levels.h) its limits; else {0, 1} if nullable, {0, 0} if not.
  LevelLimits levels;
  // Of a file with levels that is not of Kudu's arrays: entries in all.
  std::optional<uint64_t> num_entries;
  std::optional<BlockPointer> positional_index_root;
  std::optional<BlockPointer> value_index_root;
  std::optional<BlockPointer> dictionary;
  std::optional<BlockPointer> statistics;
  // The statistics are larger than max_block_size_bytes and max_bloom_filter_bytes of ReaderOptions
  // together. The file is read as if it had none.
  bool statistics_above_limit = false;
  // The Bloom filter of the statistics. Files of older writers may have one that the footer does
  // not describe (see DescribeBloomFilter).
  std::optional<BloomFilterInfo> bloom_filter;
  uint32_t incompatible_features = 0;
  uint32_t compatible_features = 0;
  std::vector<std::pair<std::string, std::string>> header_metadata;
  std::vector<std::pair<std::string, std::string>> footer_metadata;
  std::string created_by;
  // The messages of header and footer as they are stored: what DescribeMetadata shows.
  std::string header_message;
  std::string footer_message;

  bool has_checksums() const { return (incompatible_features & kFeatureChecksums) != 0; }
  bool has_levels() const {
    return (incompatible_features & (kFeatureArrayBlocks | kFeatureNestedBlocks)) != 0;
  }
  bool has_extended_blocks() const { return (incompatible_features & kFeatureExtendedBlocks) != 0; }
  // True of the files in which Kudu keeps Bloom filters: of no values, found by key only. Their
  // blocks, if they have any, are filters (cfile/FORMAT.md, Bloom filter files); cursors see
  // nothing.
  bool holds_bloom_filters() const {
    return num_values == 0 && !positional_index_root && value_index_root.has_value() &&
           type.data_type == DataType::kBinary && encoding == Encoding::kPlain && !nullable;
  }
};

// Header and footer messages in protobuf's text and JSON form.
struct MetadataText {
  std::string header_text, header_json;
  std::string footer_text, footer_json;
};
MetadataText DescribeMetadata(const FileInfo& info);

// One data block.
struct BlockInfo {
  uint64_t index = 0;  // 0, 1, ... in ordinal order
  BlockPointer pointer;
  uint64_t first_ordinal = 0;
  uint64_t num_values = 0;  // rows, nulls included; with levels: records
  // Rows, or entries of the records, and those of them that hold no value.
  uint64_t num_entries = 0;
  uint64_t null_count = 0;
  Encoding encoding = Encoding::kPlain;
  uint64_t stored_size_bytes = 0;   // in the file, without the checksum
  uint64_t encoded_size_bytes = 0;  // before compression
  bool compressed = false;
  std::span<const uint8_t> bytes;  // before compression; valid while it is visited
};

enum class IndexKind : uint8_t { kPositional, kValue };

// One entry of an index node.
struct IndexEntryInfo {
  uint64_t ordinal = 0;  // kPositional: the key
  std::string key;       // kValue: the key, in memcmp form, shortened
  BlockPointer pointer;
};

struct IndexNodeInfo {
  BlockPointer pointer;
  uint32_t depth = 0;  // 0 = root
  bool leaf = true;    // entries point to data blocks
  std::vector<IndexEntryInfo> entries;
};

// Something wrong in a file, or a part of it that a limit kept from being read.
struct Damage {
  absl::Status status;
  std::optional<BlockPointer> block;      // where, if a block is concerned
  std::optional<uint64_t> first_ordinal;  // rows that are affected, if known
  std::optional<uint64_t> last_ordinal;
};

// What Verify looked at and found.
struct VerifyReport {
  static constexpr size_t kMostDamages = 1000;

  uint64_t data_blocks = 0;
  uint64_t index_nodes = 0;
  uint64_t values = 0;         // rows, nulls included; with levels: records
  uint64_t entries = 0;        // rows, or entries of the records
  uint64_t null_count = 0;     // those of them that hold no value
  uint64_t bytes_checked = 0;  // of the file, covered by checksums or otherwise accounted for
  // Of a file with a value index and of values: its least and greatest one, in memcmp form.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  std::vector<Damage> damages;  // the first kMostDamages
  uint64_t more_damages = 0;    // those after them
  // What Verify did not check because a limit of ReaderOptions stopped it. This is not damage: each
  // status is kOutOfRange and names the limit. The same bounds hold.
  std::vector<Damage> limits;
  uint64_t more_limits = 0;

  // Adds `damage` to damages, or to limits if its status is kOutOfRange.
  void Add(Damage damage);
  // Everything was checked and nothing is wrong.
  bool ok() const { return damages.empty() && limits.empty(); }
};

// Visits each data block in ordinal order; stops early, with OK, when `visit` returns false. Reads
// each block. A block that cannot be read gives its error after the ones before it were visited.
absl::Status VisitBlocks(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit);

// Visits each node of an index, a parent before its children, in key order. OK and no visit if the
// file has no such index.
absl::Status VisitIndex(const Reader& reader, IndexKind kind,
                        const std::function<bool(const IndexNodeInfo&)>& visit);

// Reads everything: all checksums, all structures, all values; that blocks, index keys and the
// footer agree, and that bytes no pointer covers are zero. Goes on after damage, and after what a
// limit of ReaderOptions stops, where it can. Memory: about 80 bytes for each entry of the
// indexes beside what the reader holds of them, a block, and the report.
VerifyReport Verify(const Reader& reader);

}  // namespace cfile
