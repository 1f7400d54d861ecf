// Finds the type of a CSV column from all of its values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile::tools {

// Add each value that is not null, then ask for the type: the narrowest below that loses nothing of
// any value but spelling.
//
//   int32, int64        decimal integers without leading zeros or +
//   double              numbers, nan and inf, if at least one is a number; no integer among them
//   that a double cannot hold bool                true, false date                2013-01-31
//   timestamp(us,UTC)   2013-01-31T10:00:00Z or with an offset; dates among them mean midnight
//   timestamp(us)       the same without a zone
//   timestamp(ns,...)   if a fraction has more than 6 digits
//   string              anything else, and no values at all
class TypeInference {
 public:
  void Add(std::string_view text) {
    if ((seen_ & kText) == 0) seen_ |= Classify(text);
  }

  // Adds what has been added to `other`.
  void Add(const TypeInference& other) { seen_ |= other.seen_; }

  // With Compatibility::kKudu only types that Kudu has: timestamps without a zone are taken as UTC,
  // finer ones are strings.
  ColumnType Type(Compatibility compatibility) const;

 private:
  // What values have been seen: one bit for each kind.
  enum Kind : uint32_t {
    kText = 1 << 0,        // none of the others
    kInt32 = 1 << 1,       // an integer that fits
    kInt64 = 1 << 2,       // one that needs more bits, and fits a double exactly
    kWideInt64 = 1 << 3,   // one that does not
    kFraction = 1 << 4,    // a number that is not an integer
    kNotANumber = 1 << 5,  // nan, inf
    kBool = 1 << 6,
    kDate = 1 << 7,
    kZoned = 1 << 8,        // a timestamp with Z or an offset
    kLocal = 1 << 9,        // one without
    kNanos = 1 << 10,       // one that needs nanoseconds
    kBeyondNanos = 1 << 11  // one that nanoseconds of 64 bits cannot hold
  };

  static uint32_t Classify(std::string_view text);
  static uint32_t ClassifyNumber(std::string_view text);
  static uint32_t ClassifyDate(std::string_view text);

  uint32_t seen_ = 0;
};

}  // namespace cfile::tools
