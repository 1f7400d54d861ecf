// What a file says of its values without their being read: counts, least and greatest value, of
// each data block and of all of it, and a Bloom filter (cfile/FORMAT.md, Statistics).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cfile/batch.h"

namespace cfile {

// Of the values of one block, or of the whole file. A plain value.
struct BlockStatistics {
  uint64_t present_count = 0;  // rows, or entries of records, that hold a value, NaN included
  uint64_t null_count = 0;     // those that do not
  uint64_t nan_count = 0;      // of floats

  // Bounds of the values that are no NaN, in memcmp form (bytes whose unsigned order is that of the
  // values): none is below min_key, none above max_key. Absent: not known, or there is no such
  // value. -0 and +0 are one value here, -0 as a minimum, +0 as a maximum.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  // Whether that value is there. Long strings are cut (a maximum is then rounded up).
  bool min_exact = true;
  bool max_exact = true;

  // The bounds as values of the column's C++ type. nullopt: see above. Precondition: the column
  // holds T.
  template <typename T>
  std::optional<Owned<T>> Min() const;
  template <typename T>
  std::optional<Owned<T>> Max() const;

  uint64_t num_entries() const { return present_count + null_count; }
  friend bool operator==(const BlockStatistics&, const BlockStatistics&) = default;
};

// Of a file. Immutable once read, so it may be shared by threads.
struct FileStatistics {
  BlockStatistics file;

  // One per data block, in ordinal order; none if the writer had no room for them or there are no
  // data blocks. They add up to the file's rows (entries, where it has levels) and lie within the
  // file's bounds: that is checked when they are read.
  std::vector<BlockStatistics> blocks;

  // Parquet's split-block Bloom filter of all values; empty: there is none.
  std::string bloom_filter;

  // False if the filter says that no value of the file equals `value`; true if it may be there, or
  // there is no filter. Precondition: the column holds T.
  template <typename T>
  bool MightContain(const T& value) const;
};

}  // namespace cfile
