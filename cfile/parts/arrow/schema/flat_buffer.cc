#include "cfile/parts/arrow/schema/flat_buffer.h"

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

FlatTable FlatBuffer::root() { return {this, Follow(0)}; }

absl::Status FlatBuffer::status() const {
  if (!damaged_) return absl::OkStatus();
  return encodings::DataLoss("the metadata refers to byte ", damaged_at_, ", which is not in its ",
                             bytes_.size(), " bytes");
}

bool FlatBuffer::Contains(uint64_t position, uint64_t size) {
  if (damaged_) return false;
  if (position <= bytes_.size() && size <= bytes_.size() - position) return true;
  damaged_ = true;
  damaged_at_ = position;
  return false;
}

std::span<const uint8_t> FlatBuffer::Vector(uint64_t position, size_t element_size_bytes) {
  constexpr size_t kCount = sizeof(uint32_t);
  const uint64_t size = uint64_t{Load<uint32_t>(position)} * element_size_bytes;
  if (!Contains(position, kCount + size)) return {};
  return bytes_.subspan(position + kCount, size);
}

FlatTable FlatTables::operator[](size_t i) const {
  return {buffer_, buffer_->Follow(first_ + i * sizeof(uint32_t))};
}

FlatTable::FlatTable(FlatBuffer* buffer, uint64_t position) : buffer_(buffer), position_(position) {
  // If the distance is wrong, the position wraps around and is not in the buffer.
  vtable_ = position - static_cast<uint64_t>(int64_t{buffer->Load<int32_t>(position)});
  vtable_size_ = buffer->Load<uint16_t>(vtable_);
  if (!buffer->Contains(vtable_, vtable_size_)) vtable_size_ = 0;
}

uint64_t FlatTable::Find(size_t field) const {
  // The offsets of the fields come after the sizes of the vtable and of the table.
  const size_t slot = (2 + field) * sizeof(uint16_t);
  if (slot + sizeof(uint16_t) > vtable_size_) return 0;
  const auto offset = buffer_->Load<uint16_t>(vtable_ + slot);
  return offset == 0 ? 0 : position_ + offset;
}

FlatTable FlatTable::Table(size_t field) const {
  const uint64_t position = Find(field);
  return position == 0 ? FlatTable() : FlatTable(buffer_, buffer_->Follow(position));
}

FlatTables FlatTable::Tables(size_t field) const {
  const uint64_t position = Find(field);
  if (position == 0) return {};
  const uint64_t vector = buffer_->Follow(position);
  const size_t size = buffer_->Vector(vector, sizeof(uint32_t)).size() / sizeof(uint32_t);
  return {buffer_, vector + sizeof(uint32_t), size};
}

std::string_view FlatTable::Text(size_t field) const {
  return encodings::AsString(Vector(field, 1));
}

std::span<const uint8_t> FlatTable::Vector(size_t field, size_t element_size_bytes) const {
  const uint64_t position = Find(field);
  if (position == 0) return {};
  return buffer_->Vector(buffer_->Follow(position), element_size_bytes);
}

}  // namespace cfile::internal
