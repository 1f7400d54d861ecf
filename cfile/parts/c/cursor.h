// cfile_cursor: a cursor of a file or a table, for values of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/c.h"
#include "cfile/schema.h"

namespace cfile::internal {

// The functions and errors are those of Cursor. Batches are valid until the next call.
class AnyCursor {
 public:
  virtual ~AnyCursor() = default;
  virtual absl::StatusOr<std::unique_ptr<AnyCursor>> Clone() const = 0;
  virtual absl::Status Next(size_t max_rows, cfile_batch& batch) = 0;
  virtual absl::Status Previous(size_t max_rows, cfile_batch& batch) = 0;
  virtual uint64_t ordinal() const = 0;
  virtual absl::Status SeekToOrdinal(uint64_t ordinal) = 0;
  virtual absl::Status SeekToRange(const OrdinalRange& range) = 0;
  virtual absl::StatusOr<KeyPosition> SeekToKey(const cfile_value& key) = 0;
  // If `low` or `high` is null, there is no such bound.
  virtual absl::StatusOr<OrdinalRange> SeekToKeyRange(const cfile_value* low,
                                                      const cfile_value* high) = 0;
  virtual absl::Status Take(std::span<const uint64_t> ordinals, cfile_batch& batch) = 0;
};

}  // namespace cfile::internal

struct cfile_cursor {
  std::unique_ptr<cfile::internal::AnyCursor> cursor;
  std::vector<cfile::KeyColumn> key_columns;  // empty unless this is a cursor of a key index
  bool broken = false;                        // see CallOn
};
