// FileInfo: the contents of the header and the footer of a file (cfile/FORMAT.md, File and
// Messages). Reader::info() returns a FileInfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/options.h"
#include "cfile/statistics.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

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
inline constexpr uint32_t kFeaturePieces = 1u << 25;
inline constexpr uint32_t kFeatureOwnEncodings = 1u << 26;
inline constexpr uint32_t kFeatureMovableBlocks = 1u << 28;
inline constexpr uint32_t kFeatureNestedBlocks = 1u << 29;
inline constexpr uint32_t kFeatureExtendedBlocks = 1u << 30;

// The names of the bits that are set in FileInfo::incompatible_features, the lowest bit first:
// "checksums", "extended blocks", ... An unknown bit is "bit N".
CFILE_EXPORT std::vector<std::string> FeatureNames(uint32_t incompatible_features);

// Feature bits that a reader may ignore.
inline constexpr uint32_t kCompatibleFeatureStatistics = 1u << 0;

enum class IndexKind : uint8_t { kPositional, kValue };

// The totals of all blocks of a file that have the same encoding.
struct EncodingTotals {
  Encoding encoding = Encoding::kPlain;
  uint64_t blocks = 0;
  uint64_t compressed_blocks = 0;  // how many of `blocks` are compressed
  uint64_t stored_bytes = 0;       // size of the blocks in the file
};

// What a writer has written to one file so far; after Finish, the totals of the file.
struct ColumnTotals {
  uint64_t num_rows = 0;     // nulls included; in a file with levels: the number of records
  uint64_t num_entries = 0;  // in a file with levels: entries; otherwise equal to num_rows
  uint64_t num_present = 0;  // entries that hold a value
  // Bytes written to the sink so far; after Finish, the size of the file.
  uint64_t bytes_written = 0;
  // The encoding that the footer names: the encoding of the options. If that is kAuto: after
  // Finish, the file's main encoding (cfile/FORMAT.md, Extended blocks); before Finish, no meaning.
  Encoding encoding = Encoding::kPlain;
  // The codec of the options, or, for kDefault, the codec that the writer chose.
  Compression compression = Compression::kNone;
  std::vector<EncodingTotals> encodings;
  // The least and the greatest value, in memcmp form (cfile/statistics.h). Set only if the column
  // has a value index and at least one value.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  // The counts and bounds of all values. Set after Finish, unless the file gets no statistics
  // (WriterOptions::statistics).
  std::optional<BlockStatistics> statistics;

  uint64_t null_count() const { return num_entries - num_present; }
};

// A way to store blocks, and the size of some values in it.
struct StorageSize {
  Encoding encoding = Encoding::kPlain;
  bool compressed = false;  // with the file's codec
  uint64_t size_bytes = 0;
  friend bool operator==(const StorageSize&, const StorageSize&) = default;
};

// Why automatic choice has stored the blocks of a file as they are (cfile/FORMAT.md, The recorded
// choice): what a trial of the writer found. Of several trials, it is one whose choice stored the
// most values. A trial encodes some of the first values of a block with several encodings; in a
// small column, all values. The sizes are estimates. They count what a block needs besides its
// values, and a share of the file's dictionary.
struct ChoiceInfo {
  Goal goal = Goal::kBalanced;
  uint64_t num_values = 0;        // the number of values that the trial encoded
  uint64_t plain_size_bytes = 0;  // their size as PLAIN without compression
  StorageSize chosen;
  StorageSize smallest;  // of all storages that were tried; possibly the same as `chosen`
  // Estimated speed of a scan of the chosen storage, in bytes of decoded values, rounded to 100 MB
  // per second. A string counts as its bytes plus 16 bytes for its view. 0: a scan uses the values
  // in place.
  uint64_t scan_bytes_per_second = 0;
};

// The contents of the header and the footer.
struct FileInfo {
  FormatVersion version = FormatVersion::kV2;
  uint64_t file_size_bytes = 0;
  uint64_t header_size_bytes = 0;  // magic, length and checksum included
  uint64_t footer_size_bytes = 0;  // magic, length and checksum included
  ColumnType type;
  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;
  bool nullable = false;  // a row (in a file with levels: an entry) may have no value
  uint64_t num_rows = 0;  // nulls included; in a file with levels: the number of records
  // The limits of a file with levels (cfile/levels.h). Without levels: {0, 1} if the column is
  // nullable, else {0, 0}.
  LevelLimits levels;
  // The number of entries. Set only for files with levels that do not hold Kudu's arrays.
  std::optional<uint64_t> num_entries;
  std::optional<BlockPointer> positional_index_root;
  std::optional<BlockPointer> value_index_root;
  std::optional<BlockPointer> dictionary;
  // The directory of the piece tables (cfile/FORMAT.md, Pieces).
  std::optional<BlockPointer> piece_directory;
  std::optional<BlockPointer> statistics;
  // True if the statistics are larger than the sum of max_block_size_bytes and
  // max_bloom_filter_bytes of ReaderOptions. The file is then read as if it had no statistics.
  bool statistics_above_limit = false;
  // Describes the Bloom filter in the statistics. Older writers did not describe the filter in the
  // footer; for files of these writers, this member is empty even if there is a filter (see
  // DescribeBloomFilter).
  std::optional<BloomFilterInfo> bloom_filter;
  uint32_t incompatible_features = 0;
  uint32_t compatible_features = 0;
  std::vector<std::pair<std::string, std::string>> header_metadata;
  std::vector<std::pair<std::string, std::string>> footer_metadata;
  std::string created_by;
  // Absent if the footer has no choice, or one that contradicts itself. The footer has no choice if
  // the encoding was named in the options, if the file is smaller than about 1,000 bytes or has
  // blocks that were copied from another file, and in files of version 1, for Kudu, or of older
  // versions of the library.
  std::optional<ChoiceInfo> choice;
  // The serialized messages of header and footer, as stored; DescribeMetadata shows them.
  std::string header_message;
  std::string footer_message;

  bool has_checksums() const { return (incompatible_features & kFeatureChecksums) != 0; }
  bool has_levels() const {
    return (incompatible_features & (kFeatureArrayBlocks | kFeatureNestedBlocks)) != 0;
  }
  bool has_extended_blocks() const { return (incompatible_features & kFeatureExtendedBlocks) != 0; }
  bool has_pieces() const { return (incompatible_features & kFeaturePieces) != 0; }
  bool has_movable_blocks() const { return (incompatible_features & kFeatureMovableBlocks) != 0; }
  // True if this is a file in which Kudu keeps Bloom filters: a file without rows that has only a
  // value index. Its blocks, if there are any, are the filters (cfile/FORMAT.md, Bloom filter
  // files). Cursors find no rows in such a file.
  bool holds_bloom_filters() const {
    return num_rows == 0 && !positional_index_root && value_index_root.has_value() &&
           type.data_type == DataType::kBinary && encoding == Encoding::kPlain && !nullable;
  }
};

}  // namespace cfile
