// Implements KeyCursor (cfile/key_cursor.h) without the type of the values.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/table.h"

namespace cfile::internal {

// The functions and errors are those of KeyCursor. The values of a batch, and a `void*` key, have
// the column's C++ type. Thread-compatible.
class KeyMerge {
 public:
  virtual ~KeyMerge() = default;
  // Precondition: the column has values, not levels.
  static absl::StatusOr<std::unique_ptr<KeyMerge>> Create(const TableReader& table, size_t column);
  virtual absl::StatusOr<KeyPosition> SeekToKey(const void* key) = 0;
  virtual absl::StatusOr<AnyBatch> Next(size_t max_rows) = 0;
};

}  // namespace cfile::internal
