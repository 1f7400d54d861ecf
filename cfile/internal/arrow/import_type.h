// The fields of an ArrowSchema, checked and copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/types.h"

namespace cfile::internal {

// How an Arrow array stores its values.
enum class ArrowKind : uint8_t {
  // Leaf columns
  kNull,
  kBits,        // bools, one bit each
  kNumbers,     // integers and floats, also as dates, times and timestamps
  kMillis,      // dates as int64 milliseconds
  kDecimals,    // integers of 4 to 32 bytes
  kStrings32,   // int32 offsets and bytes
  kStrings64,   // int64 offsets and bytes
  kViews,       // views of 16 bytes each
  kFixedBytes,  // bytes of one length
  // Groups
  kStruct,
  kList32,      // int32 offsets; maps, too
  kList64,      // int64 offsets
  kFixedLists,  // lists of one length
  kListViews32,
  kListViews64,
  // Values that another array holds
  kDictionary,  // indexes into the array `dictionary`
  kRunEnds,     // children: the ends of the runs, and one value for each run
};

// A field, with the fields below it.
struct ImportField {
  ArrowKind kind = ArrowKind::kNull;
  bool is_map = false;
  bool nullable = false;
  std::string name;
  std::string path;  // the names from the root to this field, for errors
  ColumnType type;   // of a leaf other than kNull: the type of a new column for its values
  // kNumbers: the type of the values. kDictionary: of the indexes. kRunEnds: of the run ends.
  PhysicalType physical = PhysicalType::kInt32;
  uint32_t width = 0;  // bytes of a decimal or of fixed bytes; elements of a fixed list
  std::vector<ImportField> children;  // of kDictionary and kRunEnds: only the values
  std::vector<std::pair<std::string, std::string>> metadata;

  // Returns "Arrow field PATH" for errors.
  std::string InField() const;
  // Returns the value of `key`; null if there is none.
  const std::string* FindMetadata(std::string_view key) const;
  // The field that holds the values: follows dictionaries and runs.
  const ImportField& values() const;
  bool is_list() const { return kind >= ArrowKind::kList32 && kind <= ArrowKind::kListViews64; }
};

// Reads the type of a stream or a struct. `max_depth` and `max_nodes`: see RecordLimits.
// kInvalidArgument: the struct is malformed. kUnimplemented: no column can hold a type.
// kOutOfRange: a limit is exceeded. All errors name the field.
absl::StatusOr<ImportField> ReadArrowSchema(const ArrowSchema& schema, size_t max_depth,
                                            size_t max_nodes);

// OK if a column of `target` can hold each value of the leaf `field`. Some values may not fit, if
// their Arrow type has more room than the type says. kInvalidArgument: it cannot; the error names
// the field and both types.
absl::Status CheckStorable(const ImportField& field, const ColumnType& target);

}  // namespace cfile::internal
