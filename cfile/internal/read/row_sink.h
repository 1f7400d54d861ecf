// A RowReader puts the rows of a column into a sink, if it does not return them as batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// Thread-compatible.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // The owner of the sink says from time to time that all rows so far are kept for good. Of the rows
  // that were added after that, Truncate keeps the first `rows` and removes the others.
  virtual void Truncate(size_t rows) = 0;
};

// A sink of values of T. If a function Add... returns a number, the sink took this many rows: the
// first ones, at least 1. The functions copy what they need, unless their comments say that a sink
// may keep pointers. Precondition of all: there is at least one row.
template <typename T>
class ValueSink : public RowSink {
 public:
  // `source`: where the values were read from; may be null. The sink may keep pointers to values
  // that lie in the memory of the source.
  virtual absl::StatusOr<size_t> Add(const Batch<T>& batch,
                                     const std::shared_ptr<const Source>& source) = 0;
  // `batch` must stay valid until the rows are kept or truncated.
  virtual absl::StatusOr<size_t> AddLevels(const LevelBatch<T>& batch) = 0;

  // Where to write up to `count` values, which AddWritten then adds; null: use Add.
  virtual T* Room(size_t /*count*/) { return nullptr; }
  // Adds the rows of `batch`, whose values were written to the result of Room.
  virtual void AddWritten(const Batch<T>& /*batch*/) {}

  // Where to append strings, which AddPacked then adds; null: use Add. May return null later.
  virtual encodings::PackedStrings* Packed() { return nullptr; }
  // Adds `count` rows that were appended to the result of Packed. `batch` has their validity.
  virtual void AddPacked(size_t /*count*/, const Batch<T>& /*batch*/) {}

  // Where to write up to `count` codes, which AddCodes then adds; null: the sink takes no codes.
  virtual uint32_t* RoomForCodes(size_t /*count*/) { return nullptr; }
  // Adds codes that were written to the result of RoomForCodes. The codes are indexes into `values`,
  // which `dictionary` keeps in memory. The code of a null is 0.
  virtual absl::StatusOr<size_t> AddCodes(
      const Batch<uint32_t>& codes, std::span<const T> values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) = 0;

  // Says that the rows that were added last end their block: values of the next rows do not follow
  // them in memory.
  virtual void EndBlock() = 0;
};

}  // namespace cfile::internal
