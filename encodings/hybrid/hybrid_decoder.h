// Decodes values that are stored as RLE-hybrid of their full width: RLE of Kudu and of Parquet.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/hybrid/runs_index.h"

namespace cfile::encodings {

// The unsigned type that represents a T in the hybrid, and its width in bits. T is bool or an
// integer of at most 64 bits.
template <typename T>
struct Hybrid {
  using Number = std::make_unsigned_t<T>;
  static constexpr int kWidth = 8 * sizeof(T);
};
template <>
struct Hybrid<bool> {
  using Number = uint8_t;
  static constexpr int kWidth = 1;
};

// A block decoder that lacks only Open. The subclass implements Open: it must open runs_ with width
// Hybrid<T>::kWidth and the checkpoints of the RunsIndex, set count_ and first_ordinal_, and set
// position_ to 0.
template <typename T>
class HybridDecoder : public BlockDecoder<T> {
 public:
  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= this->count_);
    // Nothing can be read after the last value, so a seek to the end need not walk through the
    // runs.
    if (position < this->count_) CFILE_RETURN_IF_ERROR(runs_.SeekTo(position));
    this->position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t taken = this->Left(out.size());
    CFILE_RETURN_IF_ERROR(
        runs_.Read(reinterpret_cast<typename Hybrid<T>::Number*>(out.data()), taken));
    this->position_ += static_cast<uint32_t>(taken);
    return taken;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    // Values are compared as unsigned numbers. For signed types, the sign bit of each value is
    // flipped first: the order is then the order of keys.
    constexpr uint64_t kFlip = std::is_signed_v<T> ? uint64_t{1} << (Hybrid<T>::kWidth - 1) : 0;
    const uint64_t number = static_cast<typename Hybrid<T>::Number>(key);
    CFILE_ASSIGN_OR_RETURN(const uint64_t position,
                           runs_.SeekToLowerBound(number ^ kFlip, kFlip, this->count_));
    this->position_ = static_cast<uint32_t>(position);
    LowerBound bound{.position = this->position_, .exact = false};
    if (position < this->count_) {
      CFILE_ASSIGN_OR_RETURN(const uint64_t found, runs_.Peek());
      bound.exact = found == number;
    }
    return bound;
  }

  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    return RunsIndex::Build(runs_, this->count_);
  }

 protected:
  RleHybridReader runs_;
};

}  // namespace cfile::encodings
