// Finds the type of a column of texts from all of its values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile::tools {

// Why a column has its type, for the summary of an import.
struct TypeReason {
  std::string text;         // `line 7 has "NA"`, "all values", "--type", ...
  bool is_notable = false;  // the values before that line have another type, or null_text is set
  std::string missing;  // where the first text is that was taken as missing; empty: there is none
  // Not empty: the type is string only because of unquoted fields with this text. If it meant null,
  // the type would be `type_without`.
  std::string null_text;
  std::string type_without;
};

// True if `text`, without quotes in CSV, stands for a missing value among numbers: blanks, -, NA,
// N/A, null or NULL.
bool IsMissingText(std::string_view text);

// Add each value that is not null, then call Type. The result is the first of these types that
// represents all values exactly; only the spelling of a value may be lost.
//
//   int32, int64        decimal integers without leading zeros or +
//   double              numbers, nan and inf; at least one value is a number, and all integers
//                       among them are exact in a double
//   bool                true, false
//   date                2013-01-31
//   timestamp(us,UTC)   2013-01-31T10:00:00Z or with an offset; dates among them mean midnight
//   timestamp(us)       the same without a zone
//   timestamp(ns,...)   if a fraction has more than 6 digits
//   string              any other values, and no values at all
//
// Numbers, times and bools may have blanks around them. Texts that are missing (has_missing) do not
// change the type; if it is not string, they are nulls.
class TypeInference {
 public:
  // `offset` is the place of the value in the file; the values are added in the order of their
  // offsets. `lasting`: `text` has no quotes and may be missing (IsMissingText). It stays valid as
  // long as this object and its copies. Returns false if the type is surely the same as before.
  bool Add(std::string_view text, uint64_t offset, bool lasting) {
    if (has_texts_ || (lasting && !text_.empty() && text == text_)) return false;
    const uint32_t kinds = lasting && IsMissingText(text) ? kMissing : Classify(text);
    if ((kinds & (kText | ~seen_)) == 0) return false;
    Note(kinds, text, offset, lasting);
    return true;
  }

  // Adds the values that have been added to `other`, with any offsets.
  void Add(const TypeInference& other);

  // As if a value was added for which Type returns `type`, a date or a timestamp in microseconds.
  static TypeInference Of(const ColumnType& type);

  // The type. With OldestReader::kKudu only types that Kudu has: timestamps without a zone become
  // UTC, and timestamps finer than microseconds are strings.
  ColumnType Type(OldestReader oldest_reader) const { return TypeOf(seen_, oldest_reader); }

  // The type of JSON strings: a date or a timestamp if Type returns one, otherwise string.
  ColumnType TypeOfStrings(OldestReader oldest_reader) const;

  // True if a text IsMissingText; where the first one is.
  bool has_missing() const { return (seen_ & kMissing) != 0; }
  uint64_t first_missing() const { return first_offsets_[12]; }

  // Says why the type is not another one.
  struct Cause {
    uint64_t offset = 0;          // the first value with which the values had this type
    bool is_first_value = false;  // of all values
    // Not empty: the type is string only because of values with this text, which `offset` has. The
    // other values have the type `other_type`.
    std::string lone_text;
    ColumnType other_type;
  };
  // nullopt: there are no values.
  std::optional<Cause> FindCause(OldestReader oldest_reader) const;

 private:
  // The kinds of values that have been seen, one bit for each.
  enum Kind : uint32_t {
    kText = 1 << 0,        // none of the other kinds
    kInt32 = 1 << 1,       // an integer of 32 bits
    kInt64 = 1 << 2,       // an integer of 64 bits, exact in a double
    kWideInt64 = 1 << 3,   // an integer of 64 bits, not exact in a double
    kFraction = 1 << 4,    // a number that is not an integer
    kNotANumber = 1 << 5,  // nan, inf
    kBool = 1 << 6,
    kDate = 1 << 7,
    kZoned = 1 << 8,         // a timestamp with Z or an offset
    kLocal = 1 << 9,         // a timestamp without a zone
    kNanos = 1 << 10,        // a timestamp that needs nanoseconds
    kBeyondNanos = 1 << 11,  // a timestamp outside the range of nanoseconds in 64 bits
    kMissing = 1 << 12       // IsMissingText
  };
  static constexpr size_t kKinds = 13;

  static uint32_t Classify(std::string_view text);
  static uint32_t ClassifyNumber(std::string_view text);
  static uint32_t ClassifyDate(std::string_view text);

  static ColumnType TypeOf(uint32_t seen, OldestReader oldest_reader);

  // Records kinds that a value has.
  void Note(uint32_t kinds, std::string_view text, uint64_t offset, bool lasting);

  uint32_t seen_ = 0;
  // Values of the kind kText do not all have the same text, or not a lasting one. The type is then
  // string, and later values are ignored.
  bool has_texts_ = false;
  std::string_view text_;                         // of all values of the kind kText so far
  std::array<uint64_t, kKinds> first_offsets_{};  // of the kinds in seen_
};

}  // namespace cfile::tools
