// Takes the rows of a column from a RowReader. Without a sink, a RowReader returns the rows as
// batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// Takes the rows of one column. Thread-compatible. A `void*` and the values of a batch have the
// column's C++ type. If a function Add... returns a number, the sink took only so many of the rows:
// the first ones, at least one. The functions copy what they need, unless their comments say that a
// sink may keep pointers. Precondition of all Add functions: there is at least one row.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Of the rows that were added since the owner of the sink last said that all rows are kept, keeps
  // the first `rows` and removes the others.
  virtual void Truncate(size_t rows) = 0;

  // `source`: where the values were read from, or null. The sink may keep pointers to values in its
  // memory.
  virtual absl::StatusOr<size_t> Add(const AnyBatch& batch,
                                     const std::shared_ptr<const Source>& source) = 0;
  // `batch` must stay valid until its rows are kept or removed. `source`: as for Add.
  virtual absl::StatusOr<size_t> AddLevels(const AnyLevelBatch& batch,
                                           const std::shared_ptr<const Source>& source) = 0;
  // Returns memory for up to `count` values of the next AddLevels, or null if the sink has none.
  // AddLevels does not copy values that begin there.
  virtual void* RoomForLevels(size_t /*count*/) { return nullptr; }

  // Returns room for up to `count` values: write them there, and then call AddWritten. If the
  // result is null, call Add instead.
  virtual void* Room(size_t /*count*/) { return nullptr; }
  // Adds the rows of `batch`, whose values were written to the result of Room.
  virtual void AddWritten(const AnyBatch& /*batch*/) {}

  // Returns an object for strings. Append strings to it, and then call AddPacked. If the result is
  // null, which may differ from call to call, call Add instead. `source`: where the values will be
  // read from.
  virtual encodings::PackedStrings* Packed(const Source& /*source*/) { return nullptr; }
  // Adds `count` rows that were appended to the result of Packed, with the validity of `batch`.
  virtual void AddPacked(size_t /*count*/, const AnyBatch& /*batch*/) {}

  // Returns room for up to `count` codes: write them there, and then call AddCodes. If the result
  // is null, the sink takes no codes.
  virtual uint32_t* RoomForCodes(size_t /*count*/) { return nullptr; }
  // Adds codes, written to the result of RoomForCodes: indexes into `values`, which `dictionary`
  // keeps in memory, or 0 for a null.
  virtual absl::StatusOr<size_t> AddCodes(
      const Batch<uint32_t>& codes, encodings::ValueSpan values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) = 0;

  // Says that the rows that were added last end their block: the values of the next rows do not
  // follow theirs in memory.
  virtual void EndBlock() = 0;
};

}  // namespace cfile::internal
