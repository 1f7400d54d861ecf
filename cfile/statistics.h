// The statistics of a file: for each data block and for the whole file the counts, the least and
// the greatest value; for the whole file also a Bloom filter (cfile/FORMAT.md, Statistics). A
// reader gets the statistics without reading the values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/batch.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

// The statistics of the values of one block or of the whole file.
struct CFILE_EXPORT BlockStatistics {
  uint64_t present_count = 0;  // rows (with levels: entries) that hold a value, NaN included
  uint64_t null_count = 0;     // rows (with levels: entries) without a value
  uint64_t nan_count = 0;      // NaNs; 0 for types other than floats

  // Bounds of the values except NaN, in memcmp form (bytes whose unsigned order is the order of the
  // values): no value is less than min_key or greater than max_key. Absent if the bound is not
  // known or if there is no such value. -0 and +0 are treated as equal: a minimum is -0 and a
  // maximum is +0.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  // True if the bound is a value of the block or file. A bound that is a long string is shortened,
  // and a shortened maximum is rounded up; min_exact or max_exact is then false.
  bool min_exact = true;
  bool max_exact = true;

  // The bounds as values of the column's C++ type; nullopt if the bound is absent.
  template <typename T, typename = IfValueType<T>>
  std::optional<Owned<T>> Min() const;
  template <typename T, typename = IfValueType<T>>
  std::optional<Owned<T>> Max() const;

  uint64_t num_entries() const { return present_count + null_count; }
  friend bool operator==(const BlockStatistics&, const BlockStatistics&) = default;
};

struct CFILE_EXPORT FileStatistics {
  BlockStatistics file;

  // One entry per data block, in ordinal order. Empty if there are no data blocks, or if the
  // entries would exceed the writer's limit for them. The reader has checked that the counts of all
  // entries add up to the file's rows (with levels: entries) and that the bounds of each entry lie
  // within the file's bounds.
  std::vector<BlockStatistics> blocks;

  // Parquet's split-block Bloom filter of all values; empty if there is none.
  std::string bloom_filter;

  // Returns false if the Bloom filter excludes `value`: no value of the file equals it. Returns
  // true if the file may hold `value`, or if there is no filter.
  template <typename T, typename = IfValueType<T>>
  bool MightContain(const T& value) const;
};

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
CFILE_EXPORT BloomFilterInfo DescribeBloomFilter(std::string_view filter);

}  // namespace cfile
