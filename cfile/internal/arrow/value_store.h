// The values of an Arrow array while its rows are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/internal/arrow/c_data.h"
#include "cfile/io.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// A batch ends when a column has this many bytes. So arrays stay far below 2^31 bytes, unless one
// value is larger.
inline constexpr size_t kEnoughBytes = size_t{64} << 20;

// The buffers of an array, except for the validity. Thread-compatible.
class ValueStore {
 public:
  virtual ~ValueStore() = default;

  virtual size_t size() const = 0;
  // The bytes of the values, about.
  virtual size_t size_bytes() const = 0;
  // The bytes of a null if they may be many: fixed bytes have as many as a value.
  virtual size_t null_bytes() const { return 0; }
  // Keeps the first `size` values.
  virtual void Truncate(size_t size) = 0;
  // True if the values lie in the memory of a source and end there.
  virtual bool ends_borrowed() const { return false; }
  // Says that the next values will not follow the last ones in the source's memory.
  virtual void EndBlock() {}
  // Moves the values into further buffers of `parts`. The store is then empty.
  virtual void Finish(ArrayParts& parts) = 0;
};

template <typename T>
class TypedStore : public ValueStore {
 public:
  // Appends the values of the rows, and returns how many it took: the first ones, at least 1. The
  // values of nulls are appended, too: they have any value. May keep pointers to values that lie in
  // the memory of `source`, which may be null. Precondition: the batch is not empty. kOutOfRange: a
  // value does not fit the Arrow type.
  virtual absl::StatusOr<size_t> Append(const Batch<T>& batch,
                                        const std::shared_ptr<const Source>& source) = 0;

  // See ValueSink. Strings that are appended to Packed() are values at once.
  virtual T* Room(size_t /*count*/) { return nullptr; }
  virtual void AddWritten(size_t /*count*/) {}
  virtual encodings::PackedStrings* Packed() { return nullptr; }
  virtual uint32_t* RoomForCodes(size_t /*count*/) { return nullptr; }
  virtual absl::StatusOr<size_t> AppendCodes(
      const Batch<uint32_t>& codes, std::span<const T> /*values*/,
      const std::shared_ptr<const encodings::Dictionary>& /*dictionary*/) {
    return codes.size();
  }
};

// True if `bytes` lies in the memory of `source`, which may be null.
bool InMemoryOf(const std::shared_ptr<const Source>& source, const void* bytes);

// The error for a string that is too long for an array.
absl::Status TooLong(size_t size);

// A pointer for buffers without bytes.
const void* NoBytes();

}  // namespace cfile::internal
