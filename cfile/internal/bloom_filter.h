// Parquet's split-block Bloom filter (cfile/FORMAT.md, Statistics): blocks of 32 bytes, in one of
// which each value sets one bit of each of 8 words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"

namespace cfile::internal {

inline constexpr size_t kBloomBlockBytes = BloomFilterInfo::kBlockBytes;
inline constexpr size_t kBloomBlockWords = kBloomBlockBytes / sizeof(uint32_t);

// Of the format: one odd number for each word of a block.
inline constexpr uint32_t kBloomSalts[kBloomBlockWords] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
                                                           0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
                                                           0x9efc4947U, 0x5c6bfb31U};

// The block, of so many, that a hash belongs to.
inline size_t BloomBlockOf(uint64_t hash, size_t num_blocks) {
  return static_cast<size_t>((hash >> 32) * num_blocks >> 32);
}

// XXH64, seed 0, of the value as Parquet's PLAIN encoding has it, without the length of bytes.
// For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
uint64_t BloomHash(const T& value);

// Whether a value of this hash may be in `filter`. Precondition: the filter has a multiple of
// kBloomBlockBytes bytes, and not 0.
bool BloomMightContain(std::string_view filter, uint64_t hash);

// One block of a filter that is being made.
struct alignas(kBloomBlockBytes) BloomBlock {
  uint32_t words[kBloomBlockWords];
};

// Sets the bits of `hashes`, of which there are at most kBloomBatch, in `filter`, which is not
// empty.
inline constexpr size_t kBloomBatch = 128;
void SetBloomBits(std::span<const uint64_t> hashes, std::span<BloomBlock> filter);

// A set of hashes. Memory: 8 bytes for each slot, of which at most half are used, or three quarters
// where there may be no more slots.
class BloomHashSet {
 public:
  // It never takes more than `max_bytes`, but room for kBloomBatch hashes.
  explicit BloomHashSet(size_t max_bytes);

  size_t size() const { return size_; }
  // Adds `hashes`, at most kBloomBatch. False: they might not fit in; none was added.
  bool Add(std::span<const uint64_t> hashes);
  // Sets the bits of all of them in `filter`.
  void SetBits(std::span<BloomBlock> filter) const;
  void Clear();
  size_t memory_usage_bytes() const { return slots_.capacity() * sizeof(uint64_t); }

 private:
  bool HasRoom() const {
    const size_t quarters = slots_.size() == max_slots_ ? 3 : 2;
    return size_ + kBloomBatch <= slots_.size() / 4 * quarters;
  }
  size_t SlotOf(uint64_t hash) const { return hash * multiplier_ >> shift_; }
  void Put(uint64_t hash, size_t slot);
  void Grow();

  size_t max_slots_;
  std::vector<uint64_t> slots_;  // a power of two of them, 0 where there is none
  // Chosen anew by each process: the hashes of chosen values can begin alike.
  uint64_t multiplier_;
  int shift_ = 0;
  size_t size_ = 0;
  bool has_zero_ = false;  // a hash that is 0
};

// Makes a filter of values whose number is not known. It keeps their hashes as long as these take
// no more than a quarter of the memory; then a filter of just the right size is made of them.
// Beyond that it fills four filters at once, each of 2^(1/4) times the blocks of the one before: a
// filter of half as many blocks is had by laying the blocks 2i and 2i + 1 over each other, so at
// the end one of them has nearly the right size after as many halvings as it takes.
// Thread-compatible.
class BloomFilterBuilder {
 public:
  // Precondition: bits_per_value > 0. It takes about `max_bytes` of memory, or up to kLeastBytes.
  BloomFilterBuilder(uint32_t bits_per_value, size_t max_bytes);
  static constexpr size_t kLeastBytes = size_t{1} << 20;

  void Add(std::span<const uint64_t> hashes);

  template <typename T>
  void AddValues(std::span<const T> values) {
    uint64_t hashes[kBloomBatch];
    for (size_t begin = 0; begin < values.size(); begin += std::size(hashes)) {
      const size_t count = std::min(values.size() - begin, std::size(hashes));
      for (size_t i = 0; i < count; ++i) hashes[i] = BloomHash(values[begin + i]);
      Add({hashes, count});
    }
  }

  // Makes the filter: of `bits_per_value` bits, to within 10 %, for each different hash, and of one
  // block at least. kOutOfRange: that takes more than `max_bytes`. Called once, last.
  absl::Status Finish();

  // After Finish. The bytes are valid as long as this object.
  std::span<const uint8_t> filter() const;
  BloomFilterInfo info() const;

  size_t memory_usage_bytes() const;

 private:
  using Filter = std::vector<BloomBlock>;
  static constexpr size_t kNumFilters = 4;

  void BeginFilters();
  absl::Status FinishFilters();
  absl::Status AboveBudget(double filter_bytes, double memory_bytes) const;

  uint32_t bits_per_value_;
  size_t max_bytes_;
  BloomHashSet hashes_;
  // Those that are filled at once, the smallest first; none as long as the hashes are kept.
  // After Finish the first is the result.
  std::vector<Filter> filters_;
  double distinct_values_ = 0;  // after Finish
};

}  // namespace cfile::internal
