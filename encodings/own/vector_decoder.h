// What the decoders of FOR and ALP_RD share: they read some vectors of a block, whole or value by
// value. Internal to these encodings.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// Converts a value back from the unsigned integer as which it is encoded.
template <typename T, typename U>
T FromBits(U bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    return std::bit_cast<T>(bits);
  }
}

// The exceptions of a vector: their positions, 16 bits each, which ascend.
struct VectorExceptions {
  const uint8_t* positions;
  uint32_t count;

  uint16_t position(uint32_t exception) const {
    return LoadLittleEndian<uint16_t>(positions + exception * sizeof(uint16_t));
  }
  // Returns the exception whose position is `wanted`, or `count` if there is none.
  uint32_t Find(uint32_t wanted) const {
    if (count == 0) return count;
    const uint32_t found = FindLowerBound(count, [&](uint32_t i) { return position(i) < wanted; });
    return found < count && position(found) == wanted ? found : count;
  }
  // Calls put(position, i) for each exception i of vector `index`, which has `values` values.
  // kDataLoss: the positions do not ascend, or a position is not in the vector. `name`: of the
  // encoding.
  template <typename Put>
  absl::Status Visit(std::string_view name, uint32_t index, uint32_t values, const Put& put) const {
    int before = -1;
    for (uint32_t i = 0; i < count; ++i) {
      const uint16_t at = position(i);
      if (at <= before || at >= values) {
        return DataLoss(name, ": vector ", index, ": exception ", i, " of ", count, " is at value ",
                        int{at}, ", expected ", before + 1, " to ", values - 1);
      }
      before = at;
      put(at, i);
    }
    return absl::OkStatus();
  }
};

// A block decoder that lacks only SeekToKey and Decode. `Table` is derived from VectorTable
// (vector_table.h) and has these members:
//
//   Vector, U                                the type of a vector; the integers as which it is
//                                            encoded
//   absl::Status Open(const BlockView&)
//   bool Find(uint32_t index, Vector&)       checks vector `index`; false: it is damaged
//   absl::Status Damage(uint32_t index)      the error of a vector for which Find is false
//
// A Vector has the number of its values, `count`, and these functions:
//
//   U value(uint32_t index)                  value `index` of the vector
//   void Prefetch(uint32_t index)            prefetches the memory of this value
//   uint32_t FewValues()                     reading this many values one by one takes about as
//                                            long as decoding the whole vector
template <typename T, typename Table>
class VectorDecoder : public BlockDecoder<T> {
 public:
  using U = typename Table::U;
  using Vector = typename Table::Vector;

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    this->first_ordinal_ = block.first_ordinal;
    held_ = kNone;
    CFILE_RETURN_IF_ERROR(table_.Open(block));
    this->count_ = block.count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t wanted = this->Left(out.size());
    uint32_t position = this->position_;
    for (size_t done = 0; done < wanted;) {
      const uint32_t index = position / kValues;
      const uint32_t first = position % kValues;
      Vector vector;
      if (!table_.Find(index, vector)) return table_.Damage(index);
      const auto taken =
          static_cast<uint32_t>(std::min<size_t>(vector.count - first, wanted - done));
      U* const to = reinterpret_cast<U*>(out.data() + done);
      if (taken == vector.count) {
        CFILE_RETURN_IF_ERROR(Decode(index, vector, to));
      } else if (index != held_ && taken <= vector.FewValues()) {
        for (uint32_t i = 0; i < taken; ++i) to[i] = vector.value(first + i);
      } else {
        // The rest of the vector is likely to be read next.
        CFILE_RETURN_IF_ERROR(Hold(index, vector));
        std::memcpy(to, buffer_.data() + first, taken * sizeof(U));
      }
      done += taken;
      position += taken;
    }
    this->position_ = position;
    return wanted;
  }

  absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out) override {
    CFILE_ASSERT(out.size() == positions.size());
    // Prefetches the memory of a batch of values, and then reads these values.
    constexpr size_t kBatch = 32;
    Vector vectors[kBatch];
    for (size_t begin = 0; begin < positions.size(); begin += kBatch) {
      const auto some = positions.subspan(begin, std::min(kBatch, positions.size() - begin));
      for (size_t i = 0; i < some.size(); ++i) {
        const uint32_t index = some[i] / kValues;
        if (i > 0 && index == some[i - 1] / kValues) {
          vectors[i] = vectors[i - 1];
        } else if (!table_.Find(index, vectors[i])) {
          return table_.Damage(index);
        }
        vectors[i].Prefetch(some[i] % kValues);
      }
      for (size_t i = 0; i < some.size(); ++i)
        out[begin + i] = FromBits<T>(vectors[i].value(some[i] % kValues));
    }
    return absl::OkStatus();
  }

 protected:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kValues = kVectorValues;

  // Writes the values of a vector to `out`, and checks what Find does not check.
  virtual absl::Status Decode(uint32_t index, const Vector& vector, U* out) const = 0;

  // Decodes a vector into held_values().
  absl::Status Hold(uint32_t index, const Vector& vector) {
    if (held_ == index) return absl::OkStatus();
    held_ = kNone;
    CFILE_RETURN_IF_ERROR(Decode(index, vector, buffer_.data()));
    held_ = index;
    return absl::OkStatus();
  }
  const std::array<U, kVectorValues>& held_values() const { return buffer_; }

  Table table_;

 private:
  uint32_t held_ = kNone;  // the vector whose values are in buffer_; kNone: no vector
  std::array<U, kVectorValues> buffer_;
};

}  // namespace cfile::encodings
