// Keeps the values of an Arrow array while its rows are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/parts/arrow/c_data.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// A batch ends when a column has this many bytes.
// So an array stays far below 2^31 bytes, unless a single value is larger.
inline constexpr size_t kEnoughBytes = size_t{64} << 20;

// Makes the buffers of an array, except for the validity buffer. Thread-compatible.
class ValueStore {
 public:
  virtual ~ValueStore() = default;

  virtual size_t size() const = 0;
  // The approximate number of bytes of the values.
  virtual size_t size_bytes() const = 0;
  // The bytes of a null. Fixed bytes need as many bytes for a null as for a value. Others return 0.
  virtual size_t null_bytes() const { return 0; }
  // Keeps the first `size` values.
  virtual void Truncate(size_t size) = 0;
  // True if the last values were borrowed from the memory of a source and their block has ended.
  virtual bool ends_borrowed() const { return false; }
  // Says that the next values will not follow the last values in the memory of the source.
  virtual void EndBlock() {}
  // Moves the values into new buffers of `parts`. Then the store is empty.
  virtual void Finish(ArrayParts& parts) = 0;

  // The functions of TypedStore, for values of its type.
  virtual absl::StatusOr<size_t> AppendAny(const AnyBatch& batch,
                                           const std::shared_ptr<const Source>& source) = 0;
  virtual absl::StatusOr<size_t> AppendAnyCodes(
      const Batch<uint32_t>& codes, encodings::ValueSpan values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) = 0;
  virtual void* AnyRoom(size_t count) = 0;

  // RowSink explains these functions. A string that is appended to Packed() is a value at once.
  virtual void AddWritten(size_t /*count*/) {}
  virtual encodings::PackedStrings* Packed(const Source& /*source*/) { return nullptr; }
  virtual uint32_t* RoomForCodes(size_t /*count*/) { return nullptr; }
};

template <typename T>
class TypedStore : public ValueStore {
 public:
  // Appends the first values of the batch, at least one. Returns how many values were appended.
  // Nulls count, too: any value is appended for a null.
  // `source`: where the values were read from, or null.
  // The store may keep pointers to values that lie in the memory of `source`.
  // Precondition: the batch is not empty. kOutOfRange: a value does not fit the Arrow type.
  virtual absl::StatusOr<size_t> Append(const Batch<T>& batch,
                                        const std::shared_ptr<const Source>& source) = 0;

  virtual T* Room(size_t /*count*/) { return nullptr; }
  virtual absl::StatusOr<size_t> AppendCodes(
      const Batch<uint32_t>& codes, std::span<const T> /*values*/,
      const std::shared_ptr<const encodings::Dictionary>& /*dictionary*/) {
    return codes.size();
  }

  absl::StatusOr<size_t> AppendAny(const AnyBatch& batch,
                                   const std::shared_ptr<const Source>& source) final {
    return Append(batch.As<T>(), source);
  }
  absl::StatusOr<size_t> AppendAnyCodes(
      const Batch<uint32_t>& codes, encodings::ValueSpan values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) final {
    return AppendCodes(codes, values.As<T>(), dictionary);
  }
  void* AnyRoom(size_t count) final { return Room(count); }
};

// True if `bytes` lies in the memory of `source`. `source` may be null.
bool InMemoryOf(const std::shared_ptr<const Source>& source, const void* bytes);

// Returns the error for a string that is too long for an array.
absl::Status TooLong(size_t size);

// Returns a pointer for buffers without bytes.
const void* NoBytes();

}  // namespace cfile::internal
