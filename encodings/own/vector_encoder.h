// What the encoders of FOR and ALP_RD share: they divide the values of a block into vectors.
// Internal to these encodings.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// A block encoder that lacks only PutVector. U is the unsigned integer as which a value of type T
// is encoded. `Entry` is an entry of the table, as in VectorTable (vector_table.h).
template <typename T, typename U, typename Entry>
class VectorEncoder : public BlockEncoder<T> {
 public:
  size_t Append(std::span<const T> values) override {
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      const std::span<const T> rest = values.subspan(taken);
      if (pending_ == 0 && most_pending_ == kVectorValues && rest.size() >= kVectorValues) {
        AddVector(reinterpret_cast<const U*>(rest.data()), kVectorValues);
        taken += kVectorValues;
        BeginVector();
        continue;
      }
      const size_t some = std::min(rest.size(), most_pending_ - pending_);
      std::memcpy(values_.data() + pending_, rest.data(), some * sizeof(T));
      pending_ += some;
      taken += some;
      if (pending_ == kVectorValues) {
        AddVector(values_.data(), kVectorValues);
        pending_ = 0;
        BeginVector();
      }
    }
    return taken;
  }

  bool full() const override { return pending_ == most_pending_; }
  uint32_t count() const override {
    return static_cast<uint32_t>(entries_.size() * kVectorValues + pending_);
  }
  size_t size_bytes() const override {
    return WholeBytes() + (pending_ == 0 ? 0 : Entry::kBytes + pending_ * sizeof(T));
  }

  void Finish(uint64_t /*first_ordinal*/, EncodedBlock& block) override {
    block.Clear();
    block.count = count();
    if (pending_ > 0) AddVector(values_.data(), pending_);
    const size_t table_bytes = entries_.size() * Entry::kBytes;
    block.bytes.Reserve(table_bytes + vectors_.size());
    for (Entry entry : entries_) {
      entry.offset += static_cast<uint32_t>(table_bytes);
      entry.Put(block.bytes);
    }
    block.bytes.PutBytes(vectors_.span());
    if (piece_bytes_ > 0) AddPieces(block);
    entries_.clear();
    firsts_.clear();
    vectors_.Clear();
    pending_ = 0;
    BeginVector();
  }

 protected:
  explicit VectorEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes),
        piece_bytes_(options.piece_bytes),
        whole_records_(options.whole_records) {
    BeginVector();
  }

  // Encodes `count` values: calls AddEntry once, and writes the vector to vectors(). Precondition:
  // `count` is 1 to kVectorValues.
  virtual void PutVector(const U* values, size_t count) = 0;

  // Adds an entry and sets its offset. The vector begins at the end of vectors().
  void AddEntry(Entry entry) {
    entry.offset = static_cast<uint32_t>(vectors_.size());
    entries_.push_back(entry);
  }
  ByteWriter& vectors() { return vectors_; }

  // Subtracts `reference` from the values of a vector, and writes the packed differences.
  void Pack(std::span<const U> values, U reference, int width) {
    if (width == 0) return;
    if (values.size() == kVectorValues) {
      PackInterleaved<U>(values.data(), reference, width, vectors_.Extend(InterleavedBytes(width)));
      return;
    }
    std::array<U, kVectorValues> differences;
    for (size_t i = 0; i < values.size(); ++i)
      differences[i] = static_cast<U>(values[i] - reference);
    PackBits<U>({differences.data(), values.size()}, width, vectors_);
  }

 private:
  void AddVector(const U* values, size_t count) {
    if (piece_bytes_ > 0) firsts_.push_back(values[0]);
    PutVector(values, count);
  }

  // Adds the pieces of `block`. A piece consists of whole vectors, after their entries.
  void AddPieces(EncodedBlock& block) const {
    const size_t table_bytes = entries_.size() * Entry::kBytes;
    const auto begin_of = [&](size_t i) {
      return i == entries_.size() ? vectors_.size() : size_t{entries_[i].offset};
    };
    for (size_t first = 0, end = 0; first < entries_.size(); first = end) {
      const size_t begin = begin_of(first);
      for (end = first + 1; end < entries_.size() && begin_of(end) - begin < piece_bytes_;) ++end;
      ByteWriter front;
      for (size_t i = first; i < end; ++i) {
        Entry entry = entries_[i];
        entry.offset = static_cast<uint32_t>((end - first) * Entry::kBytes + begin_of(i) - begin);
        entry.Put(front);
      }
      const size_t values = std::min<size_t>(block.count, end * kVectorValues);
      block.pieces.push_back(
          {.count = static_cast<uint32_t>(values - first * kVectorValues),
           .begin = static_cast<uint32_t>(table_bytes + begin),
           .size_bytes = static_cast<uint32_t>(begin_of(end) - begin),
           .front = std::string(front.view()),
           .key = std::string(reinterpret_cast<const char*>(&firsts_[first]), sizeof(T))});
    }
    if (block.pieces.size() == 1) block.pieces.clear();
  }

  size_t WholeBytes() const { return entries_.size() * Entry::kBytes + vectors_.size(); }

  // Sets most_pending_: 0 if the block is full, less than kVectorValues if a whole vector could
  // make the block larger than one and a half times its target size.
  void BeginVector() {
    const size_t bytes = WholeBytes();
    if (bytes >= block_size_bytes_ && !entries_.empty()) {
      most_pending_ = 0;
    } else if (whole_records_) {
      most_pending_ = kVectorValues;
    } else {
      const size_t used = bytes + Entry::kBytes;
      const size_t most_bytes = block_size_bytes_ + block_size_bytes_ / 2;
      const size_t room = most_bytes - std::min(most_bytes, used);
      most_pending_ = std::clamp<size_t>(room / sizeof(T), 1, kVectorValues);
    }
  }

  const size_t block_size_bytes_;
  const size_t piece_bytes_;
  const bool whole_records_;
  std::vector<U> firsts_;       // the first value of each vector; only with pieces
  std::vector<Entry> entries_;  // offsets are counted from the first vector, until Finish
  ByteWriter vectors_;
  std::array<U, kVectorValues> values_;  // the values of the next vector
  size_t pending_ = 0;                   // the number of values in values_
  size_t most_pending_ = 0;  // the most values that the next vector may have; 0: the block is full
};

}  // namespace cfile::encodings
