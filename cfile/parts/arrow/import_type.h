// Checks and copies the fields of an ArrowSchema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/types.h"

namespace cfile::internal {

// How an Arrow array stores its values.
enum class ArrowKind : uint8_t {
  // Leaf columns
  kNull,
  kBits,        // bools, one bit each
  kNumbers,     // integers and floats; some dates, times and timestamps
  kMillis,      // dates as int64 milliseconds
  kDecimals,    // integers of 4 to 32 bytes
  kStrings32,   // int32 offsets and bytes
  kStrings64,   // int64 offsets and bytes
  kViews,       // views of 16 bytes each
  kFixedBytes,  // bytes of one length
  // Groups
  kStruct,
  kList32,      // int32 offsets; also maps
  kList64,      // int64 offsets
  kFixedLists,  // lists of one length
  kListViews32,
  kListViews64,
  // Values that another array holds
  kDictionary,  // indexes into the array `dictionary`
  kRunEnds,     // children: the ends of the runs, and one value for each run
};

// A field and the fields below it.
struct ImportField {
  ArrowKind kind = ArrowKind::kNull;
  bool is_map = false;
  bool nullable = false;
  std::string name;
  std::string path;  // the names from the root to this field, for errors
  ColumnType type;   // of a leaf other than kNull: the type of a new column for its values
  // The type of the values (kNumbers), of the indexes (kDictionary) or of the run ends (kRunEnds).
  PhysicalType physical = PhysicalType::kInt32;
  uint32_t width = 0;  // bytes of a decimal or of fixed bytes; elements of a fixed list
  std::vector<ImportField> children;  // of kDictionary and kRunEnds: only the values
  std::vector<std::pair<std::string, std::string>> metadata;

  // Returns "Arrow field PATH" for errors.
  std::string InField() const;
  // Returns the value of `key`, or null if the field does not have this key.
  const std::string* FindMetadata(std::string_view key) const;
  // Follows dictionaries and runs. Returns the field that holds the values.
  const ImportField& values() const;
  bool is_list() const { return kind >= ArrowKind::kList32 && kind <= ArrowKind::kListViews64; }
};

// Reads the type of a stream or of a struct. RecordLimits explains `max_depth` and `max_nodes`.
// kInvalidArgument: the ArrowSchema is malformed. kUnimplemented: no column can hold a type.
// kOutOfRange: a limit is exceeded. All errors name the field.
absl::StatusOr<ImportField> ReadArrowSchema(const ArrowSchema& schema, size_t max_depth,
                                            size_t max_nodes);

// Copies a type that may be one that no column has. Errors: as above, except kUnimplemented.
absl::StatusOr<ArrowField> CopyArrowSchema(const ArrowSchema& schema, size_t max_depth);

// Returns OK if a column of type `target` can hold the values of the leaf `field`.
// kInvalidArgument, with the field and both types, if it cannot. An array may hold values that its
// type does not allow, and they may not fit.
absl::Status CheckStorable(const ImportField& field, const ColumnType& target);

}  // namespace cfile::internal
