// Apache Kudu's writer ends some blocks and dictionaries at other places than ours. A KuduPolicy
// decides where they end; the encoders of Kudu's encodings ask it. With EncoderOptions::kudu_exact,
// they end at Kudu's places, and the files are byte-identical to Kudu's (cfile/FORMAT.md, Kudu's
// own writer). RleHybridEncoder decides where runs end.
#pragma once

#include <algorithm>
#include <cstddef>

#include "encodings/core/block_codec.h"

namespace cfile::encodings {

class KuduPolicy {
 public:
  explicit KuduPolicy(const EncoderOptions& options)
      : exact_(options.kudu_exact), block_size_bytes_(options.block_size_bytes) {}

  // Returns how many of the next `wanted` values a block takes if it has room for `room` values.
  // Kudu takes the whole batch and checks the size afterwards.
  size_t Take(size_t wanted, size_t room) const { return exact_ ? wanted : std::min(wanted, room); }

  // True if a block of `count` values and `size_bytes` bytes is full: ours at `capacity` values,
  // Kudu's when it has more bytes than the block size.
  bool IsFull(size_t count, size_t capacity, size_t size_bytes) const {
    return exact_ ? count > 0 && size_bytes > block_size_bytes_ : count >= capacity;
  }

  // True if an encoder that checks the size of a block every `interval` values checks it after
  // `count` values. Kudu checks the size after each batch.
  bool ChecksSize(size_t count, size_t interval) const { return exact_ || count % interval == 0; }

  // True if a block of codes ends when the dictionary becomes full. Kudu's block continues until a
  // value is not in the dictionary.
  bool FullDictionaryEndsBlock() const { return !exact_; }

  // The longest value, in bytes, that joins the dictionary. Kudu has no limit here, but no value is
  // longer than 64 KiB.
  size_t LongestDictionaryValue() const {
    return exact_ ? std::max(block_size_bytes_, size_t{64} * 1024) : block_size_bytes_;
  }

 private:
  const bool exact_;
  const size_t block_size_bytes_;
};

}  // namespace cfile::encodings
