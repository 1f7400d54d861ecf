// The statistics block of a file, written and read (cfile/FORMAT.md, Statistics).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/bloom_filter.h"
#include "cfile/internal/value_summary.h"
#include "cfile/options.h"
#include "cfile/statistics.h"

namespace cfile {
class ExtensionsPB;
}

namespace cfile::internal {

// The statistics block of a file.
struct StatisticsBytes {
  std::string message;                    // empty: the file gets no statistics
  std::span<const uint8_t> bloom_filter;  // the last bytes of the message, if it has a filter
  std::optional<BloomFilterInfo> bloom_info;
};

// Collects the statistics of a file while its blocks are written. Of a file without statistics it
// does nothing. Holds at most half of max_block_size_bytes of finished blocks' entries, and
// max_bloom_filter_bytes for the Bloom filter. Thread-compatible.
template <typename T>
class StatisticsWriter {
 public:
  explicit StatisticsWriter(const WriterOptions& options);

  // Values of the block in hand. Cheapest while they are in the cache.
  void Add(std::span<const T> values);

  // The block is complete; `num_entries`: its rows, or the entries of its records, nulls included.
  void FinishBlock(uint64_t num_entries);

  // What the file gets; valid as long as this object. Called once, last. kOutOfRange: the Bloom
  // filter does not fit in the options' limits, or the statistics have no room for it.
  absl::StatusOr<StatisticsBytes> Finish();

  size_t memory_usage_bytes() const {
    return blocks_.capacity() + (bloom_ ? bloom_->memory_usage_bytes() : 0);
  }

 private:
  void AddEntry(std::string_view entry);

  bool enabled_;
  bool ascending_;
  size_t max_block_size_bytes_;
  ValueSummary<T> block_;
  ValueSummary<T> file_;
  uint64_t null_count_ = 0;  // of finished blocks
  std::string blocks_;       // their entries, as StatisticsPB has them
  bool blocks_dropped_ = false;
  std::optional<BloomFilterBuilder> bloom_;
};

// The most bytes of a statistics block that `options` allow, stored and before compression.
uint64_t StatisticsLimit(const ReaderOptions& options);

// The fields of the footer that describe the statistics' Bloom filter.
void DescribeBloomFilter(const BloomFilterInfo& filter, ExtensionsPB& extensions);

// Sets bloom_filter and statistics_above_limit of `info`, of which statistics and compression are
// set, by what the footer says. kDataLoss: that is no filter.
absl::Status InterpretStatistics(const ExtensionsPB& extensions, const ReaderOptions& options,
                                 FileInfo& info);

// The statistics in `bytes`, of the file that `info` describes. kDataLoss: malformed, or they
// contradict each other or the footer.
absl::StatusOr<FileStatistics> ParseStatistics(std::span<const uint8_t> bytes,
                                               const FileInfo& info);

}  // namespace cfile::internal
