// The table of a block that is divided into vectors of kVectorValues values: FOR and ALP_RD. It has
// an entry for each vector, and is followed by the vectors, in this order and without gaps.
// Internal to these encodings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/core/value_places.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// Finds entries and vectors. `Entry` has the size kBytes, the function Load(const uint8_t*), and
// the member `offset`: the offset of the vector from the block's first byte. The bytes of the block
// belong to the caller of Open.
template <typename Entry>
class VectorTable {
 public:
  // The number of vectors.
  uint32_t size() const { return size_; }

  // Precondition: index < size().
  Entry LoadEntry(uint32_t index) const {
    return Entry::Load(bytes_.data() + size_t{index} * Entry::kBytes);
  }

 protected:
  // `name`: of the encoding, for the error. kDataLoss, with size() 0: the block is too short for
  // its table, or it has bytes but no values.
  absl::Status OpenTable(const BlockView& block, std::string_view name) {
    const uint32_t vectors = VectorsOf(block.count);
    const uint64_t table_bytes = uint64_t{vectors} * Entry::kBytes;
    count_ = size_ = 0;
    if (table_bytes > block.bytes.size()) {
      return DataLoss(name, ": the table of ", vectors, " vectors takes ", table_bytes,
                      " bytes, found ", block.bytes.size());
    }
    if (vectors == 0 && !block.bytes.empty()) {
      return DataLoss(name, ": a block without values has ", block.bytes.size(),
                      " bytes, expected 0");
    }
    bytes_ = block.bytes;
    count_ = block.count;
    size_ = vectors;
    return absl::OkStatus();
  }

  std::span<const uint8_t> bytes() const { return bytes_; }
  uint64_t TableBytes() const { return uint64_t{size_} * Entry::kBytes; }

  // Preconditions of the functions below: index < size().

  // Returns how many values the vector has.
  uint32_t CountOf(uint32_t index) const {
    return std::min<uint32_t>(kVectorValues, count_ - index * uint32_t{kVectorValues});
  }
  // Returns where the vector ends: at the begin of the next one, or at the end of the block.
  size_t EndOf(uint32_t index) const {
    return index + 1 == size_ ? bytes_.size() : LoadEntry(index + 1).offset;
  }
  // True if the vector lies in the block after the table, takes `vector_bytes` bytes, and the first
  // vector follows the table without a gap.
  bool HasPlace(uint32_t index, const Entry& entry, size_t vector_bytes) const {
    const size_t begin = entry.offset;
    const size_t end = EndOf(index);
    return begin >= TableBytes() && (index > 0 || begin == TableBytes()) && end <= bytes_.size() &&
           begin <= end && end - begin == vector_bytes;
  }
  // Returns the error of a vector. `offset`: of the wrong field in the entry.
  template <typename... Parts>
  absl::Status DamageOf(uint32_t index, std::string_view name, size_t offset,
                        const Parts&... parts) const {
    return DataLoss(name, ": vector ", index, ", at byte ", size_t{index} * Entry::kBytes + offset,
                    ": ", parts...);
  }
  // Returns the error of a vector for which HasPlace is false.
  absl::Status PlaceDamageOf(uint32_t index, std::string_view name, size_t vector_bytes) const {
    return DamageOf(index, name, 0, "it lies at bytes ", LoadEntry(index).offset, " to ",
                    EndOf(index), " of ", bytes_.size(), ", expected ", vector_bytes,
                    " bytes from ", index == 0 ? "" : "at least ", TableBytes(), " on");
  }

 private:
  std::span<const uint8_t> bytes_;
  uint32_t count_ = 0;  // the number of values
  uint32_t size_ = 0;   // the number of vectors
};

// Asks for the bytes of the vector of the value at `position` (encodings/value_places.h).
template <typename Entry>
absl::Status VisitVector(const BlockView& block, uint32_t position, NeedBytes need) {
  const uint64_t index = position / kVectorValues;
  const bool last = index + 1 == VectorsOf(block.count);
  const uint64_t entry = index * Entry::kBytes;
  CFILE_RETURN_IF_ERROR(need(entry, entry + (last ? 1 : 2) * Entry::kBytes));
  const uint8_t* const at = block.bytes.data() + entry;
  const uint64_t begin = Entry::Load(at).offset;
  const uint64_t end = last ? block.bytes.size() : Entry::Load(at + Entry::kBytes).offset;
  if (begin >= end || end > block.bytes.size()) return absl::OkStatus();
  return need(begin, end);
}

}  // namespace cfile::encodings
