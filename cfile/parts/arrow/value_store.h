// Keeps the values of an Arrow array while its rows are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {

// A batch ends when a column has this many bytes, so that an array stays far below 2^31 bytes,
// unless a single value is larger.
inline constexpr size_t kEnoughBytes = size_t{64} << 20;

// Makes the buffers of an array, except for the validity buffer. Thread-compatible.
class ValueStore {
 public:
  virtual ~ValueStore() = default;

  virtual size_t size() const = 0;
  // The approximate number of bytes of the values.
  virtual size_t size_bytes() const = 0;
  // The bytes of a null: for fixed bytes those of a value, otherwise 0.
  virtual size_t null_bytes() const { return 0; }
  // Keeps the first `size` values.
  virtual void Truncate(size_t size) = 0;
  // True if the last values were borrowed from the memory of a source and their block has ended.
  virtual bool ends_borrowed() const { return false; }
  // Says that the next values will not follow the last values in the memory of the source.
  virtual void EndBlock() {}
  // Moves the values into new buffers of `parts`, and empties the store.
  virtual void Finish(ArrayParts& parts) = 0;

  // Appends the first values of the batch, at least one, and any value for a null. Returns how
  // many. `source`: where the values were read from, or null. The store may keep pointers to values
  // that lie in the memory of `source`. Preconditions: the values have the column's C++ type; the
  // batch is not empty. kOutOfRange: a value does not fit the Arrow type.
  virtual absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                        const std::shared_ptr<const Source>& source) = 0;

  // RowSink explains these functions. A string that is appended to Packed() is a value at once.
  virtual void* Room(size_t /*count*/) { return nullptr; }
  virtual void AddWritten(size_t /*count*/) {}
  virtual encodings::PackedStrings* Packed(const Source& /*source*/) { return nullptr; }
  virtual uint32_t* RoomForCodes(size_t /*count*/) { return nullptr; }
  virtual absl::StatusOr<size_t> AppendCodes(
      const Batch<uint32_t>& codes, std::span<const std::string_view> /*values*/,
      const std::shared_ptr<const encodings::Dictionary>& /*dictionary*/) {
    return codes.size();
  }
};

// Makes the store for the values of an Arrow array. `capacity`: the number of values for which the
// store reserves memory when it gets its first value.
std::unique_ptr<ValueStore> NewStore(const ColumnType& type, ArrowLayout layout, size_t capacity);

// Make stores of strings: as offsets and bytes, as views, and as int32 indexes into a dictionary.
// Views point into the memory of a source or of a dictionary if the string lies there.
std::unique_ptr<ValueStore> NewPackedStore();
std::unique_ptr<ValueStore> NewViewStore(size_t capacity);
std::unique_ptr<ValueStore> NewDictionaryStore(size_t capacity);

// Returns how many of the first values have at most `room` bytes in total.
size_t Fitting(std::span<const std::string_view> values, size_t room);

// Moves `bytes` into a new buffer of `parts`.
void FinishBytes(encodings::ByteWriter& bytes, ArrayParts& parts);
// Adds two buffers: the offsets and the bytes of strings.
void AddStrings(std::shared_ptr<const encodings::PackedStrings> strings, ArrayParts& parts);

// True if `bytes` lies in the memory of `source`. `source` may be null.
bool InMemoryOf(const std::shared_ptr<const Source>& source, const void* bytes);

// Returns the error for a string that is too long for an array.
absl::Status TooLong(size_t size);

// Returns a pointer for buffers without bytes.
const void* NoBytes();

}  // namespace cfile::internal
