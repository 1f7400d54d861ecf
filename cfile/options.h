// The options of writers and readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

class BlockCache;

enum class FormatVersion : uint8_t {
  kV1 = 1,  // magic "kuducfil": no checksums, no extensions
  kV2 = 2,  // magic "kuducfl2"
};

// The oldest program that must be able to read what is written. The numbers are stored in tables
// and never change; a newer program has a greater number.
enum class OldestReader : uint32_t {
  // For a new file or a new table: the newest version below. For a file of an existing table: what
  // the table says (TableReader::oldest_reader).
  kDefault = 0,
  // The writer writes exactly the bytes that Apache Kudu's writer would write: Kudu's block
  // boundaries and runs, no alignment, and none of this library's extensions of the format. Types,
  // encodings and codecs that Kudu does not support are errors. Tables have the limits of
  // kVersion0_1, too.
  kKudu = 1,
  // No movable blocks; the encodings for, fsst, compact and alp-rd are errors. A table has no
  // nullable key columns, no changed columns and no metadata of its own, and table.cft describes
  // all parts itself.
  kVersion0_1 = 2,
  // Files with a value index have no piece tables (cfile/FORMAT.md, Pieces), so a search by key in
  // a file that is not in memory reads a whole block.
  kVersion0_2 = 3,
  kVersion0_3 = 4,  // no limits
};

// Returns "kudu", "0.1", "0.2" or "0.3"; "" for kDefault; "number N" for a number of a newer
// version.
CFILE_EXPORT std::string OldestReaderName(OldestReader reader);
// The inverse of OldestReaderName. kInvalidArgument: there is no such name.
CFILE_EXPORT absl::StatusOr<OldestReader> ParseOldestReader(std::string_view name);

// How the writer chooses the encoding and the compression of a block. A candidate is an encoding
// that automatic choice may take (encodings/core/codec.h), with or without compression. The writer
// estimates the size and the scan speed of each candidate. It ignores candidates that are slower
// than the goal's scan speed or larger than PLAIN without compression. Among the others, it takes
// the fastest whose size is at most the smallest size times the goal's factor. With kBalanced and
// kSpeed, the size may also exceed the smallest size by 0.2 % of the decoded bytes, or by 16 bytes
// for the whole column. If no candidate is left, the writer takes PLAIN. The scan speed counts
// decoded bytes; a string counts as its bytes plus 16 bytes for its view. In a column with a value
// index, an encoding that must decode values to find a key counts as four times slower.
enum class Goal : uint8_t {
  // The scan speed is at least 1.5 GB/s on one core, in a column with a value index 2 GB/s, and the
  // factor is 1.1. A block is compressed with zstd if this makes the block at least 15 % smaller.
  // COMPACT counts as 1.2 times as large as it is, because single values are slow to read; columns
  // with a value index do not use it.
  kBalanced = 0,
  // The scan speed is at least 0.25 GB/s on one core, and the factor is 1.02. A block is compressed
  // with zstd if this makes the block at least a tenth smaller.
  kSize = 1,
  // The scan speed is at least 6 GB/s on one core, and the factor is 2. So numbers stay PLAIN,
  // which readers use without a copy, unless another encoding makes a block less than half as
  // large. Blocks are never compressed.
  kSpeed = 2,
};

struct GoalLimits {
  double bytes_per_second;  // the lowest acceptable scan speed, in decoded bytes
  double factor;            // the largest acceptable size, relative to the smallest candidate
  // The largest acceptable size of a compressed block, relative to its size without compression.
  double compressed_to;
};

constexpr GoalLimits LimitsOf(Goal goal) {
  switch (goal) {
    case Goal::kSize:
      return {.bytes_per_second = 0.25e9, .factor = 1.02, .compressed_to = 0.9};
    case Goal::kSpeed:
      return {.bytes_per_second = 6e9, .factor = 2, .compressed_to = 0};
    case Goal::kBalanced:
      break;
  }
  return {.bytes_per_second = 1.5e9, .factor = 1.1, .compressed_to = 0.85};
}

// The default limits that writers and readers share: see WriterOptions and ReaderOptions.
inline constexpr size_t kMaxMetadataSizeBytes = 16 * 1024 * 1024;
inline constexpr size_t kMaxDictionaryValues = size_t{1} << 22;
inline constexpr size_t kMaxIndexSizeBytes = size_t{256} << 20;
inline constexpr size_t kMaxMessageSizeBytes = size_t{64} << 20;

struct WriterOptions {
  // kAuto: the writer chooses encodings for the `goal`, and stores the encoding of each block in
  // the block. It makes a trial at the first block, from all values of a small column or a sample
  // of a large one, and again where the values change; other blocks keep the last choice. In
  // version 1 and with OldestReader::kKudu blocks cannot store a choice: the writer then chooses
  // one encoding for the file, by the type of the column.
  Encoding encoding = Encoding::kAuto;
  Goal goal = Goal::kBalanced;
  // True if the file will be read by single values more often than by scans. Automatic choice then
  // leaves out the encodings that decode many values to read one (COMPACT, DELTA_BYTE_ARRAY),
  // unless the goal is kSize.
  bool single_values = false;
  // kDefault: with encoding kAuto, the goal's codec, or no codec if the goal's codec was not built
  // in; with any other encoding, in version 1 and with OldestReader::kKudu, no codec. The goal's
  // codec compresses a block only if the block becomes as much smaller as Goal says. Any other
  // value: this codec compresses each block that becomes at least a tenth smaller (in version 1:
  // all blocks), and automatic choice compares the sizes after compression.
  Compression compression = Compression::kDefault;
  // The level of zstd, from 1 (fast) to 22 (small). 0: zstd's default level. Codecs other than zstd
  // ignore the level. kInvalidArgument: the level is below 0 or above 22.
  int compression_level = 0;

  // True if rows may be null (see Append with validity).
  bool nullable = false;

  // An index by ordinal. Seeks by ordinal need it (except to ordinal 0), and scans need it to skip
  // blocks by their statistics. A file must have at least one of the two indexes.
  bool positional_index = true;
  // An index by value, needed for seeks by key. The values must then be in ascending order (equal
  // values may follow each other), without nulls and NaN. Not for int96, which has no order.
  bool value_index = false;

  // A data block ends when its encoded values have approximately block_size_bytes bytes, or when
  // the block has max_values_per_block rows (nulls included), whichever comes first.
  // block_size_bytes must be at most half of max_block_size_bytes. With OldestReader::kKudu the
  // number of rows is not limited.
  size_t block_size_bytes = 256 * 1024;
  uint32_t max_values_per_block = 1 << 20;
  // In a file with a value index, a data block also ends when it takes approximately this many
  // bytes in the file, or, if it is compressed, four times as many. A search by key in a file that
  // is not in memory then reads little. The first block, blocks by which the writer chooses an
  // encoding, and the blocks after the first 65,536 may be larger. 0: no such limit; searches and
  // scans of files in memory are then faster. No effect on files without a value index, of version
  // 1 and for OldestReader::kKudu.
  size_t seek_block_size_bytes = 0;
  // An index node ends when its size exceeds this number of bytes.
  size_t index_block_size_bytes = 32 * 1024;

  // Limits (kOutOfRange). Where ReaderOptions has a limit of the same name, its default is the
  // same.
  //
  // The largest block before compression, up to 2^31 - 1 bytes. A value may have at most 64 bytes
  // less than this limit. The writer ends blocks before this limit. In two cases it cannot, and the
  // call fails: a record of a LevelWriter is too large, because a record is not divided among
  // blocks; or a node of the value index has no room for the keys of two blocks (a key is cut to
  // the bytes that separate a block's first value from the value before it).
  size_t max_block_size_bytes = 16 * 1024 * 1024;
  // The largest value, in bytes.
  size_t max_value_size_bytes = SIZE_MAX;
  // The largest header, footer and table.cft, in bytes. For table.cft, the limit is in the options
  // of the table's first column. Also limits the memory of parsed metadata, to eight times this
  // number (with the default, several hundred thousand metadata pairs). With OldestReader::kKudu
  // header and footer have at most 64 KiB.
  size_t max_metadata_size_bytes = kMaxMetadataSizeBytes;
  // The maximum number of values in the file's dictionary, up to 2^31 - 1. Exceeding this limit is
  // not an error: a block that would need more values takes another encoding, and with kDict all
  // later blocks do so too.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // The maximum memory, in bytes, that a reader may need for the nodes of the indexes. The writer
  // estimates an upper bound: approximately 60 bytes for each block, and in a value index three
  // times the size of the block's key in addition.
  size_t max_index_size_bytes = kMaxIndexSizeBytes;
  // The largest protobuf message that MessageWriter writes, in bytes. MessageWriter uses the limit
  // in the options of the table's first column. See ReaderOptions for how bytes are counted.
  size_t max_message_size_bytes = kMaxMessageSizeBytes;

  // Statistics: counts and bounds of each block and of the file (cfile/statistics.h). Scans use
  // them to skip blocks. Files of version 1 or for OldestReader::kKudu never have statistics.
  bool statistics = true;
  // If greater than 0, the statistics contain a Bloom filter of the file's values with this many
  // bits (within 10 %) for each distinct value. With 10 bits, about 1 % of the absent values pass
  // the filter. A filter has at least 256 bits. Columns of type bool get no filter.
  // kInvalidArgument if the file gets no statistics.
  uint32_t bloom_filter_bits_per_value = 0;
  // The most memory that the writer uses for the Bloom filter; a limit below 1 MiB counts as 1 MiB.
  // If there are more distinct values than a fortieth of this number, the writer fills filters of
  // several sizes at the same time, and the final filter can then have about a fifth of this size:
  // 64 MiB are enough for 12 million distinct values at 10 bits. If the filter needs more, Finish
  // returns kOutOfRange.
  size_t max_bloom_filter_bytes = size_t{64} << 20;

  // Whether data blocks are movable (cfile/FORMAT.md, Movable blocks): a block begins with a head,
  // which describes the block and is not compressed, so that it can be copied to another place of a
  // column without decoding it. Files of version 1, and files for readers that are older than
  // OldestReader::kVersion0_2, never have movable blocks. Not set: the files of a table
  // have movable blocks; files that Writer and LevelWriter write have none.
  std::optional<bool> movable_blocks = std::nullopt;

  // A new part of a table whose columns, key index included, have at most this many bytes together
  // is packed: it is one file instead of one for each column, so a flush creates and syncs one file
  // of data. The writer keeps the part in memory until it finishes the part or the part exceeds the
  // limit. 0: never; SIZE_MAX: always. Counts in the options of the table's first column. Parts of
  // one column, and of tables for readers that are older than OldestReader::kVersion0_2, are never
  // packed.
  size_t max_packed_part_bytes = size_t{8} << 20;

  // The number of values between two restart points of PREFIX blocks. A larger number gives smaller
  // blocks with slower seeks. 0: 16, as in Kudu, or 32 with automatic choice.
  uint32_t restart_interval = 0;

  FormatVersion version = FormatVersion::kV2;
  // A file that is written into an existing table cannot be for newer readers than the table
  // (kFailedPrecondition; see RaiseOldestReader in cfile/table_maintenance.h). A new table is for
  // the newest reader that the options of its columns name.
  OldestReader oldest_reader = OldestReader::kDefault;

  // (key, value) pairs for the header. Keys that begin with "cfile." are reserved for the library.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// The limits of a schema of records (cfile/record_schema.h). The defaults are meant for untrusted
// schemas. To allow more, pass higher limits where the schema is made and where a table with the
// schema is opened (ReaderOptions::record_limits).
struct RecordLimits {
  size_t max_depth = 64;       // nodes of a path, leaf column included; never more than 1000
  size_t max_leaves = 10'000;  // leaf columns
  size_t max_nodes = 100'000;
  size_t max_path_size_bytes = 4096;  // of a leaf column's path
};

struct ReaderOptions {
  // How Reader::Open(path) reads the file. See OpenMappedSource for the risk of mapped files.
  enum class Access : uint8_t { kMap, kPread } access = Access::kMap;

  // Whether checksums are verified: once for each block if the source is in memory, otherwise each
  // time a block is read. Of movable blocks of a source in memory, Get, and Take of a few rows, may
  // verify only the parts that they read, each time they read them.
  bool verify_checksums = true;

  // For tables with a merge rule (Schema::merge_rule). True: readers return all rows that are
  // stored, as if there were no rule. Functions that change the table may then also bring back
  // older rows: DropParts, Replace, CommitParts and Repair refuse this otherwise.
  bool stored_rows = false;

  // The cache for blocks that seeks had to read or decompress (cfile/block_cache.h); null:
  // BlockCache::Default().
  std::shared_ptr<BlockCache> block_cache = nullptr;
  // The maximum memory of the seek indexes of one open file, in bytes. A seek index makes seeks in
  // one block faster. A block that lies in memory as it is stored (in a mapped file, not
  // compressed) gets a seek index at a seek if the block was read before and if its encoding
  // profits from a seek index. A block can get two: one for seeks by ordinal and one for seeks by
  // key. Seek indexes of cached blocks belong to the cache instead.
  size_t max_seek_index_bytes = size_t{128} << 20;
  // If the source is not in memory, a scan reads several whole blocks at once, up to this many
  // bytes but at least one block. The default has room for four blocks of 256 KiB with their
  // headers, checksums and alignment. This option has no effect on mapped files, because the
  // operating system itself reads ahead of a scan.
  size_t read_ahead_bytes = (size_t{1} << 20) + (size_t{1} << 16);
  // The most ranges that one call of Source::ReadMany reads, or that a cursor reads in the
  // background at the same time (Source::BeginRead); 0 counts as 1. A cursor keeps the memory of
  // these ranges, each of up to read_ahead_bytes bytes; in a scan of a table, they grow to 4 MiB if
  // max_table_memory_bytes has room for them. A cursor that reads block after block begins with one
  // range, and doubles the number with each call, up to the end of its range of rows. For Take,
  // SeekMany, and the rows that match a filter, the first call already has this many ranges,
  // because the cursor knows which blocks it will read. No effect if the source is in memory or has
  // no latency (Source::HasLatency), like local files.
  size_t max_requests_in_flight = 16;

  // Limits. A file that exceeds one (kOutOfRange) is not damaged: it can be read with a higher
  // limit.
  //
  // The largest block in bytes, as stored and before compression. A reader holds up to twice this
  // size in memory.
  size_t max_block_size_bytes = 16 * 1024 * 1024;
  // True: a block may also be as large as the file, and if it is compressed, 64 times as large
  // before compression (at most 2^31 - 1 bytes). So files with large blocks need no higher limit,
  // and a small file cannot claim much memory.
  bool blocks_up_to_file_size = false;
  // The statistics may be larger than other blocks by this many bytes, for their Bloom filter.
  // Larger statistics are ignored: readers and scans then work without statistics
  // (FileInfo::statistics_above_limit).
  size_t max_bloom_filter_bytes = size_t{64} << 20;
  // The largest header, footer, table.cft and directory of a packed part, in bytes.
  size_t max_metadata_size_bytes = kMaxMetadataSizeBytes;
  // The maximum number of values in a dictionary. While the file is open, a dictionary takes 16
  // bytes of memory for each value in addition to the bytes of its block.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // The maximum number of levels of an index, the root included; never more than 1000. Writers put
  // at least two entries into each node, so their indexes have at most 34 levels.
  size_t max_index_depth = 40;
  // The maximum memory for the nodes of the indexes, in bytes. A node is kept from its first use
  // until the file is closed. Nodes take approximately 50 bytes for each block, and in a value
  // index twice the size of the block's key in addition. Each thread that loads a node at the same
  // time as others may exceed the limit by one node.
  size_t max_index_size_bytes = kMaxIndexSizeBytes;
  // The number of files that a table keeps open. If the table needs more files, it closes the files
  // that were not used for the longest time. The file of a cursor or scan stays open until the
  // cursor or scan is destroyed. 0: with Access::kPread, half of the process's limit of
  // descriptors. With Access::kMap, 16,384: a mapped file needs no descriptor, but systems limit
  // the number of mappings.
  size_t max_open_files = 0;
  // The memory of an open table, in bytes. No effect on a file that is opened alone.
  // - Half of it is for the memory that open files keep (Reader::memory_usage_bytes). If open files
  //   keep more, the table closes the files that were not used for the longest time, but not the
  //   file that was opened last. Seek indexes are built only while there is room.
  // - A quarter is for data that is read ahead. This quarter limits read_ahead_bytes and
  //   max_requests_in_flight, and all columns of a table scan share it. But each column of a scan
  //   may always read one range.
  // - A quarter is for cached blocks. If block_cache is null and this quarter is less than
  //   BlockCache::kDefaultBytes, the table gets its own cache with this capacity.
  //
  // Not included: one block and one batch for each cursor and for each column of a scan; table.cft
  // and its chunks, the files that describe older parts (max_metadata_size_bytes).
  size_t max_table_memory_bytes = size_t{1} << 30;
  // The limits of the schema of a table of records.
  RecordLimits record_limits = {};
  // The largest record that MessageReader (cfile/protobuf_records.h) returns, in bytes: the bytes
  // of its strings, 16 bytes for each value and 64 bytes for each group. The limit is needed
  // because a few bytes of a file may stand for a field of millions of elements.
  size_t max_message_size_bytes = kMaxMessageSizeBytes;
};

}  // namespace cfile
