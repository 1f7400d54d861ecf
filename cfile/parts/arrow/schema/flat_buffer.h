// Reads untrusted FlatBuffers (https://flatbuffers.dev/internals): the metadata of Arrow IPC.
//
// Each access is checked. The first wrong position marks the buffer as damaged; that access and all
// later ones return defaults, so a caller reads all that it needs and checks status() at the end.
// Tables may contain each other many times: callers limit the number of tables that they visit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace cfile::internal {

class FlatTable;

class FlatBuffer {
 public:
  // The caller keeps the bytes, and the buffer does not move while it has tables.
  explicit FlatBuffer(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  FlatTable root();
  // kDataLoss: an access was outside of the bytes.
  absl::Status status() const;

 private:
  friend class FlatTable;
  friend class FlatTables;

  // Returns true if [position, position + size) is in the buffer. Otherwise the buffer is damaged.
  bool Contains(uint64_t position, uint64_t size);
  template <typename T>
  T Load(uint64_t position) {
    T value{};
    if (Contains(position, sizeof(T))) std::memcpy(&value, bytes_.data() + position, sizeof(T));
    return value;
  }
  // Follows the offset at `position`.
  uint64_t Follow(uint64_t position) { return position + Load<uint32_t>(position); }
  // Returns the elements of the vector at `position`.
  std::span<const uint8_t> Vector(uint64_t position, size_t element_size_bytes);

  const std::span<const uint8_t> bytes_;
  bool damaged_ = false;
  uint64_t damaged_at_ = 0;
};

// The elements of a vector of tables.
class FlatTables {
 public:
  FlatTables() = default;
  size_t size() const { return size_; }
  FlatTable operator[](size_t i) const;

 private:
  friend class FlatTable;
  FlatTables(FlatBuffer* buffer, uint64_t first, size_t size)
      : buffer_(buffer), first_(first), size_(size) {}

  FlatBuffer* buffer_ = nullptr;
  uint64_t first_ = 0;
  size_t size_ = 0;
};

// A table. `field` is the number of a field, counted from 0; a union is two fields.
class FlatTable {
 public:
  // A table without fields.
  FlatTable() = default;

  bool present() const { return buffer_ != nullptr; }
  bool Has(size_t field) const { return Find(field) != 0; }
  template <typename T>
  T Number(size_t field, T absent = {}) const {
    const uint64_t position = Find(field);
    return position == 0 ? absent : buffer_->Load<T>(position);
  }
  // A field that is absent is a table without fields, and an empty text or vector.
  FlatTable Table(size_t field) const;
  FlatTables Tables(size_t field) const;
  std::string_view Text(size_t field) const;
  // The elements of a vector of numbers or structs.
  std::span<const uint8_t> Vector(size_t field, size_t element_size_bytes) const;

 private:
  friend class FlatBuffer;
  friend class FlatTables;
  FlatTable(FlatBuffer* buffer, uint64_t position);
  // Returns the position of a field; 0 if it is absent.
  uint64_t Find(size_t field) const;

  FlatBuffer* buffer_ = nullptr;
  uint64_t position_ = 0;
  uint64_t vtable_ = 0;
  uint16_t vtable_size_ = 0;
};

}  // namespace cfile::internal
