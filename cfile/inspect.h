// The structure of a file, for tools that show, check and explain files. Programs that only read
// values do not need this header. All functions are thread-safe, also with the same Reader. The
// Reader must outlive the call.
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

// The place of a stored block: the bytes [offset, offset + size) of the file, checksum included.
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

// Feature bits that a reader may ignore.
inline constexpr uint32_t kCompatibleFeatureStatistics = 1u << 0;

// The Bloom filter of all values of a file (cfile/FORMAT.md, Statistics).
struct BloomFilterInfo {
  static constexpr uint64_t kBlockBytes = 32;

  uint64_t size_bytes = 0;       // a multiple of kBlockBytes
  uint64_t distinct_values = 0;  // exact, or an estimate within 1 % if there are many

  uint64_t num_blocks() const { return size_bytes / kBlockBytes; }
  // Bits for each distinct value; 0 if there are no values.
  double bits_per_value() const {
    return distinct_values == 0
               ? 0
               : 8 * static_cast<double>(size_bytes) / static_cast<double>(distinct_values);
  }
  friend bool operator==(const BloomFilterInfo&, const BloomFilterInfo&) = default;
};

// Describes a filter (FileStatistics::bloom_filter) by counting its bits: distinct_values is an
// estimate. For files whose footer does not describe their filter.
BloomFilterInfo DescribeBloomFilter(std::string_view filter);

// The contents of the header and the footer.
struct FileInfo {
  FormatVersion version = FormatVersion::kV2;
  uint64_t file_size_bytes = 0;
  uint64_t header_size_bytes = 0;  // from the file's start, magic included
  uint64_t footer_size_bytes = 0;  // to the file's end, magic included
  ColumnType type;
  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;
  bool nullable = false;    // with levels: an entry may have no value
  uint64_t num_values = 0;  // nulls included; with levels: records
  // The limits of a file with levels (cfile/levels.h). Without levels: {0, 1} if the column is
  // nullable, else {0, 0}.
  LevelLimits levels;
  // The number of entries. Only in files with levels that do not hold Kudu's arrays.
  std::optional<uint64_t> num_entries;
  std::optional<BlockPointer> positional_index_root;
  std::optional<BlockPointer> value_index_root;
  std::optional<BlockPointer> dictionary;
  std::optional<BlockPointer> statistics;
  // True if the statistics are larger than the sum of max_block_size_bytes and
  // max_bloom_filter_bytes of ReaderOptions. The file is then read as if it had no statistics.
  bool statistics_above_limit = false;
  // Describes the Bloom filter in the statistics. Older writers did not describe the filter in the
  // footer; for their files this is empty even if there is a filter (see DescribeBloomFilter).
  std::optional<BloomFilterInfo> bloom_filter;
  uint32_t incompatible_features = 0;
  uint32_t compatible_features = 0;
  std::vector<std::pair<std::string, std::string>> header_metadata;
  std::vector<std::pair<std::string, std::string>> footer_metadata;
  std::string created_by;
  // The serialized messages of header and footer, as stored; DescribeMetadata shows them.
  std::string header_message;
  std::string footer_message;

  bool has_checksums() const { return (incompatible_features & kFeatureChecksums) != 0; }
  bool has_levels() const {
    return (incompatible_features & (kFeatureArrayBlocks | kFeatureNestedBlocks)) != 0;
  }
  bool has_extended_blocks() const { return (incompatible_features & kFeatureExtendedBlocks) != 0; }
  // True if this is a file in which Kudu keeps Bloom filters: a file without values that has only a
  // value index. Its blocks, if there are any, are the filters (cfile/FORMAT.md, Bloom filter
  // files). Cursors find no rows in such a file.
  bool holds_bloom_filters() const {
    return num_values == 0 && !positional_index_root && value_index_root.has_value() &&
           type.data_type == DataType::kBinary && encoding == Encoding::kPlain && !nullable;
  }
};

// The messages of header and footer in protobuf's text and JSON formats.
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
  // Rows, or with levels entries; and how many of them hold no value.
  uint64_t num_entries = 0;
  uint64_t null_count = 0;
  Encoding encoding = Encoding::kPlain;
  uint64_t stored_size_bytes = 0;   // in the file, without the checksum
  uint64_t encoded_size_bytes = 0;  // before compression
  bool compressed = false;
  std::span<const uint8_t> bytes;  // before compression; valid during the visit
};

enum class IndexKind : uint8_t { kPositional, kValue };

// One entry of an index node.
struct IndexEntryInfo {
  uint64_t ordinal = 0;  // kPositional: the key
  std::string key;       // kValue: the key in memcmp form, shortened
  BlockPointer pointer;
};

struct IndexNodeInfo {
  BlockPointer pointer;
  uint32_t depth = 0;  // 0 = root
  bool leaf = true;    // entries point to data blocks
  std::vector<IndexEntryInfo> entries;
};

// Something wrong in a file, or a part of the file that could not be read because of a limit.
struct Damage {
  absl::Status status;
  std::optional<BlockPointer> block;      // the damaged block, if known
  std::optional<uint64_t> first_ordinal;  // the affected rows, if known
  std::optional<uint64_t> last_ordinal;
};

// The result of Verify.
struct VerifyReport {
  static constexpr size_t kMostDamages = 1000;

  uint64_t data_blocks = 0;
  uint64_t index_nodes = 0;
  uint64_t values = 0;         // rows, nulls included; with levels: records
  uint64_t entries = 0;        // rows, or with levels entries
  uint64_t null_count = 0;     // entries without a value
  uint64_t bytes_checked = 0;  // bytes of the file that are verified or accounted for
  // The least and the greatest value, in memcmp form, of a file that has a value index and values.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  std::vector<Damage> damages;  // the first kMostDamages
  uint64_t more_damages = 0;    // how many were found after those
  // The parts that Verify did not check because of a limit of ReaderOptions. They are not damage.
  // Each status is kOutOfRange and names the limit. This list has at most kMostDamages entries,
  // too.
  std::vector<Damage> limits;
  uint64_t more_limits = 0;

  // Adds `damage` to damages, or to limits if its status is kOutOfRange.
  void Add(Damage damage);
  // Everything was checked and nothing is wrong.
  bool ok() const { return damages.empty() && limits.empty(); }
};

// Calls `visit` for each data block in ordinal order, and reads each block for that. If `visit`
// returns false, stops and returns OK. If a block cannot be read, returns its error; the blocks
// before it have been visited.
absl::Status VisitBlocks(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit);

// Calls `visit` for each node of an index in key order, a parent before its children. If `visit`
// returns false, stops and returns OK. Returns OK without a visit if the file has no such index.
absl::Status VisitIndex(const Reader& reader, IndexKind kind,
                        const std::function<bool(const IndexNodeInfo&)>& visit);

// Reads and checks the whole file: all checksums, structures and values; that the blocks, the index
// keys and the footer agree; and that bytes outside of all blocks are zero. After damage, or a part
// that is above a limit of ReaderOptions, Verify continues with the rest where possible. Memory:
// approximately 80 bytes for each index entry (in addition to the reader's index nodes), one block,
// and the report.
VerifyReport Verify(const Reader& reader);

}  // namespace cfile
