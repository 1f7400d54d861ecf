// What a user may choose when a column is written and when it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"

namespace cfile {

enum class FormatVersion : uint8_t {
  kV1 = 1,  // magic kuducfil: no checksums, no extensions
  kV2 = 2,  // magic kuducfl2
};

enum class Compatibility : uint8_t {
  kNone = 0,
  // Exactly the bytes that Apache Kudu's writer would make: no alignment, no extensions, no
  // extended blocks, Kudu's block boundaries and runs. Types, encodings and codecs that Kudu does
  // not know are refused.
  kKudu = 1,
};

// What automatic choice is for. A candidate is an encoding of the registry
// (encodings/registry.h), with or without compression. Of those that a scan is estimated to decode
// at the speed below, a string counted with the 16 bytes of its view, it takes the fastest that is
// hardly larger than the smallest; never one that is larger than PLAIN. In a column with a value
// index, decoding counts four times for encodings that have to decode values to find a key.
enum class Goal : uint8_t {
  // At least 2 GB/s of one core; at most 1.15 times the smallest; compressed with zstd's level 1
  // where that saves a quarter.
  kBalanced = 0,
  // At least 0.25 GB/s; at most 1.05 times the smallest; compressed with zstd where that saves a
  // tenth.
  kSize = 1,
  // At least 6 GB/s; at most twice the smallest: numbers stay where they can be pointed at unless
  // an encoding halves them. Never compressed.
  kSpeed = 2,
};

// The limits that writers and readers both have, by default: see WriterOptions and ReaderOptions.
inline constexpr size_t kMaxMetadataSizeBytes = 16 * 1024 * 1024;
inline constexpr size_t kMaxDictionaryValues = size_t{1} << 22;
inline constexpr size_t kMaxIndexSizeBytes = size_t{256} << 20;
inline constexpr size_t kMaxMessageSizeBytes = size_t{64} << 20;

struct WriterOptions {
  // kAuto: the writer chooses for each block, by a sample of its first values and to the `goal`;
  // the block holds the choice. Where each block cannot say it, in version 1 and with
  // Compatibility::kKudu, one encoding is chosen for the file by the type of the column.
  Encoding encoding = Encoding::kAuto;
  Goal goal = Goal::kBalanced;
  // kDefault: with automatic choice the goal's codec (none if it was not built in), which those
  // blocks are compressed with that it pays for; else none. A codec that is named compresses all
  // blocks that it saves a tenth of, and automatic choice compares encodings so.
  Compression compression = Compression::kDefault;
  // Of zstd: 1 (fast) to 22 (small); 0 is the goal's where that chose the codec, else zstd's own.
  int compression_level = 0;

  // Values may be null (Append with validity).
  bool nullable = false;

  // An index by ordinal: seeks by ordinal and scans need it. A file must have this index or the
  // next.
  bool positional_index = true;
  // An index by value. The values must then ascend (equal ones may follow each other), without
  // nulls and NaN. Not for int96, which has no order.
  bool value_index = false;

  // A data block ends when about so many bytes (at most half of max_block_size_bytes) are encoded
  // or so many rows (nulls included) are in it, whichever is first. With Compatibility::kKudu the
  // number of rows is not limited.
  size_t block_size_bytes = 256 * 1024;
  uint32_t max_values_per_block = 1 << 20;
  // An index node ends above this size.
  size_t index_block_size_bytes = 32 * 1024;

  // Limits; what is above one is refused with kOutOfRange, and the message names the limit.
  //
  // The most bytes of one block before compression, and so, less 64, of one value. Up to 2^31 - 1;
  // readers have the same limit and the same default. Blocks end before they meet it; but a record
  // of a LevelWriter is not divided, and an index by value needs room for two keys that begin
  // blocks (of each what tells it from the value before it).
  size_t max_block_size_bytes = 16 * 1024 * 1024;
  // The most bytes of one value.
  size_t max_value_size_bytes = SIZE_MAX;
  // The most bytes of header, footer and, of a table (by the options of its first column),
  // table.cft. Readers have the same limit and the same default, and refuse what would take more
  // than eight times as much memory, too: some hundred thousand pairs of metadata. Kudu's limit is
  // its own.
  size_t max_metadata_size_bytes = kMaxMetadataSizeBytes;
  // The most values of the dictionary. No error: a block that would need more takes another
  // encoding (with DICT, so do all blocks after it). Readers have the same limit and the same
  // default. Up to 2^31 - 1.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // The most bytes of memory that a reader takes for the nodes of the indexes, estimated from
  // above: about 60 for each block, and three times its key in an index by value. Readers have the
  // same limit and the same default.
  size_t max_index_size_bytes = kMaxIndexSizeBytes;
  // The most bytes of a message that MessageWriter writes, by the options of the table's first
  // column: see ReaderOptions.
  size_t max_message_size_bytes = kMaxMessageSizeBytes;

  // Counts and bounds of each block and of the file (cfile/statistics.h), by which scans skip
  // blocks. Never in files of version 1 or for Compatibility::kKudu.
  bool statistics = true;
  // More than 0: the statistics get a Bloom filter of the file's values with this many bits, to
  // within 10 %, for each distinct value (10: about 1 % of the absent values pass). The filter has
  // at least 256 bits; bool has none. kInvalidArgument if the file gets no statistics.
  uint32_t bloom_filter_bits_per_value = 0;
  // The most memory that the writer takes for the filter (but up to 1 MiB if this is less). Of many
  // distinct values (more than a fortieth of this) the writer fills filters of several sizes at
  // once, so such a filter may have about a fifth of this: 64 MiB are enough for 12 million
  // distinct values at 10 bits. If the filter needs more, Finish returns kOutOfRange.
  size_t max_bloom_filter_bytes = size_t{64} << 20;

  // PREFIX encoding: values between two restart points. More: smaller and slower to seek in. 0: 16,
  // as in Kudu, or 32 where the encoding is chosen.
  uint32_t restart_interval = 0;

  FormatVersion version = FormatVersion::kV2;
  Compatibility compatibility = Compatibility::kNone;

  // Pairs (key, value) for the header. Keys that begin with "cfile." are the library's.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

// The blocks of a file that are encoded alike.
struct EncodingTotals {
  Encoding encoding = Encoding::kPlain;
  uint64_t blocks = 0;
  uint64_t compressed_blocks = 0;  // of them
  uint64_t stored_bytes = 0;       // in the file
};

struct ReaderOptions {
  // How Open(path) reads the file. See OpenMappedSource for what a mapping asks of its
  // surroundings.
  enum class Access : uint8_t { kMap, kPread } access = Access::kMap;

  // Checks each block's checksum when it is first read.
  bool verify_checksums = true;

  // Where seeks keep blocks that they had to read or decompress; null: BlockCache::Default().
  std::shared_ptr<BlockCache> block_cache = nullptr;
  // A block that lies in memory as it is stored, and is sought in when it was read before, gets an
  // index of its own where the encoding gains from one (by ordinal and by key one each): up to so
  // many bytes for each open file.
  size_t max_seek_index_bytes = size_t{128} << 20;
  // A scan of a source that is not in memory reads whole blocks, up to so many bytes at once, but
  // at least one block. A scan of a mapped file tells the system to fetch so many bytes ahead. By
  // default room for four blocks of 256 KiB, which are stored with a header, a checksum and
  // alignment.
  size_t read_ahead_bytes = (size_t{1} << 20) + (size_t{1} << 16);

  // Limits. What is above one is refused with kOutOfRange before memory is taken for it, and the
  // message names the limit. That is not damage: with a higher limit it can be read.
  //
  // Bytes of a block, as it is stored and before compression: up to twice as many are held.
  size_t max_block_size_bytes = 16 * 1024 * 1024;
  // The statistics may have this many bytes more than other blocks, for their Bloom filter. Larger
  // statistics are ignored: FileInfo says so, and readers and scans work without them.
  size_t max_bloom_filter_bytes = size_t{64} << 20;
  // Bytes of header, footer and table.cft.
  size_t max_metadata_size_bytes = kMaxMetadataSizeBytes;
  // Values of a dictionary. Each takes 16 bytes of memory, as long as the file is open, beside the
  // bytes of the dictionary's block.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // Levels of an index, the root included; up to 1000. A writer's nodes have two entries at least,
  // so that no index has more than 34.
  size_t max_index_depth = 40;
  // Bytes of memory of the nodes of the indexes, which are kept from when they are first read as
  // long as the file is open: about 50 for each block, and twice its key in an index by value.
  // (Threads that load nodes at once may go above it by one each.)
  size_t max_index_size_bytes = kMaxIndexSizeBytes;
  // Of the schema of a table of records.
  RecordLimits record_limits = {};
  // Bytes of a record that becomes a message (cfile/protobuf_records.h): about those of its values,
  // 16 for each and 64 for each group. A few bytes of a file may say that a field has millions of
  // elements.
  size_t max_message_size_bytes = kMaxMessageSizeBytes;
};

}  // namespace cfile
