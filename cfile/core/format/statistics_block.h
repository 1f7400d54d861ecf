// Writes and reads the statistics block of a file (cfile/FORMAT.md, Statistics).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/core/format/bloom_filter.h"
#include "cfile/core/format/value_summary.h"
#include "cfile/core/wire/messages.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/statistics.h"

namespace cfile::internal {

struct StatisticsBytes {
  std::string message;                    // empty: the file has no statistics
  std::span<const uint8_t> bloom_filter;  // if there is one; stored after `message`
  std::optional<BloomFilterInfo> bloom_info;
};

// Collects the statistics of a file while its blocks are written. Does nothing if the file gets no
// statistics. Memory: at most half of max_block_size_bytes for the entries of finished blocks, and
// max_bloom_filter_bytes for the Bloom filter. Thread-compatible.
class StatisticsWriter {
 public:
  StatisticsWriter(PhysicalType type, const WriterOptions& options);

  // Adds values of the current block. Fastest while the values are in the CPU's cache.
  void Add(encodings::ValueSpan values);

  // Ends the current block. `num_entries`: the number of the block's rows, nulls included; in a
  // file with levels, the number of its entries.
  void FinishBlock(uint64_t num_entries);

  // Adds a finished block by its statistics, without its values. Preconditions: no values were
  // added since the last FinishBlock; CanAddBlock(&statistics) is true.
  void AddBlock(const BlockStatistics& statistics);
  // False if `statistics` is null, or if the block would make the statistics of the file less
  // exact.
  bool CanAddBlock(const BlockStatistics* statistics) const;
  bool has_bloom_filter() const { return bloom_.has_value(); }

  // Returns the statistics, valid as long as this object. Call once, last. kOutOfRange: the Bloom
  // filter exceeds the limit of the options, or the statistics that contain it exceed
  // max_block_size_bytes.
  absl::StatusOr<StatisticsBytes> Finish();

  // The statistics of all finished blocks together.
  BlockStatistics file_statistics() const { return file_->Statistics(null_count_); }

  size_t memory_usage_bytes() const {
    return blocks_.capacity() + (bloom_ ? bloom_->memory_usage_bytes() : 0);
  }

 private:
  void AddEntry(std::string_view entry);

  const PhysicalType type_;
  bool enabled_;
  bool ascending_;
  size_t max_block_size_bytes_;
  std::unique_ptr<AnySummary> block_;
  std::unique_ptr<AnySummary> added_;  // of CanAddBlock
  std::unique_ptr<AnySummary> file_;
  uint64_t null_count_ = 0;  // of finished blocks
  std::string blocks_;       // entries of finished blocks: fields of wire::Statistics
  bool blocks_dropped_ = false;
  std::optional<BloomFilterBuilder> bloom_;
};

// The largest statistics block, stored or before compression, that `options` allow, in bytes.
uint64_t StatisticsLimit(const ReaderOptions& options);

// Sets the fields of the footer that describe the Bloom filter.
void DescribeBloomFilter(const BloomFilterInfo& filter, wire::Extensions& extensions);

// Sets bloom_filter and statistics_above_limit of `info` from the footer. Precondition: statistics
// and compression of `info` are set. kDataLoss: the footer describes an invalid filter.
absl::Status InterpretStatistics(const wire::Extensions& extensions, const ReaderOptions& options,
                                 FileInfo& info);

// True if `key` can be a bound of values of `type`: the memcmp form of a value, possibly cut or
// rounded up.
bool IsBound(const std::string& key, const ColumnType& type);

// Convert the statistics of a block, a file or several files to a message and back.
// The bounds of the message point into `statistics`.
// kDataLoss: the counts are impossible, or a bound is not a bound of values of `type`.
wire::BlockStatistics ToMessage(const BlockStatistics& statistics);
absl::StatusOr<BlockStatistics> FromMessage(const wire::BlockStatistics& message,
                                            const ColumnType& type);

// Parses the statistics of the file that `info` describes. The result's Bloom filter is a copy.
// kDataLoss: the bytes are malformed, or the statistics contradict each other or the footer.
absl::StatusOr<FileStatistics> ParseStatistics(std::span<const uint8_t> bytes,
                                               const FileInfo& info);

}  // namespace cfile::internal
