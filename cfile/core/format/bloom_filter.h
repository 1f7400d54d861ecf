// Parquet's split-block Bloom filter (cfile/FORMAT.md, Statistics): each value selects a block of
// 32 bytes, and sets one bit in each of its 8 words.
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
#include "cfile/file_info.h"

namespace cfile::internal {

inline constexpr size_t kBloomBlockBytes = BloomFilterInfo::kBlockBytes;
inline constexpr size_t kBloomBlockWords = kBloomBlockBytes / sizeof(uint32_t);

// The format defines these odd numbers, one for each word of a block.
inline constexpr uint32_t kBloomSalts[kBloomBlockWords] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
                                                           0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
                                                           0x9efc4947U, 0x5c6bfb31U};

// The index of the block that `hash` selects among `num_blocks` blocks.
inline size_t BloomBlockOf(uint64_t hash, size_t num_blocks) {
  return static_cast<size_t>((hash >> 32) * num_blocks >> 32);
}

// Returns the XXH64 hash, with seed 0, of the value in Parquet's PLAIN encoding (of a string: its
// bytes, without the length). T is a type of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
uint64_t BloomHash(const T& value);

// Returns false if no value with this hash is in `filter`. Precondition: the filter's size is a
// multiple of kBloomBlockBytes and not 0.
bool BloomMightContain(std::string_view filter, uint64_t hash);

// One block of a filter under construction.
struct alignas(kBloomBlockBytes) BloomBlock {
  uint32_t words[kBloomBlockWords];
};

// Sets the bits of `hashes` in `filter`. Preconditions: at most kBloomBatch hashes; `filter` is not
// empty.
inline constexpr size_t kBloomBatch = 128;
void SetBloomBits(std::span<const uint64_t> hashes, std::span<BloomBlock> filter);

// A set of hashes. Memory: 8 bytes for each slot. At most half of the slots are used, or three
// quarters once the set has its maximum size.
class BloomHashSet {
 public:
  // Takes at most `max_bytes` bytes of memory, but always enough for kBloomBatch hashes.
  explicit BloomHashSet(size_t max_bytes);

  size_t size() const { return size_; }
  // Adds at most kBloomBatch hashes. Returns false, and adds none, if there may be no room for
  // them.
  bool Add(std::span<const uint64_t> hashes);
  // Sets the bits of all hashes of the set in `filter`.
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
  std::vector<uint64_t> slots_;  // a power of two of slots; 0 marks an empty slot
  // Random for each process, so that nobody can choose values whose hashes all get the same slot.
  uint64_t multiplier_;
  int shift_ = 0;
  size_t size_ = 0;
  bool has_zero_ = false;  // the set contains the hash 0
};

// Builds a Bloom filter for an unknown number of values. Keeps the hashes as long as they take at
// most a quarter of the memory; Finish then makes a filter of exactly the right size. With more
// hashes, four filters are filled together, each with about 2^(1/4) times as many blocks as the
// previous one. ORing each pair of blocks 2i and 2i + 1 halves a filter, so Finish chooses one of
// the four and halves it until its size is nearly right.
//
// Thread-compatible.
class BloomFilterBuilder {
 public:
  // Uses about `max_bytes` bytes of memory, but up to kLeastBytes if `max_bytes` is less.
  // Precondition: bits_per_value > 0.
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

  // Makes the filter, with `bits_per_value` bits (to within 10 %) for each distinct hash and at
  // least one block. kOutOfRange if this takes more than `max_bytes` bytes of memory. Call once,
  // after the last Add.
  absl::Status Finish();

  // Call after Finish. The bytes are valid as long as this object.
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
  // The filters that are filled at the same time, in ascending order of size; empty while hashes_
  // is in use. After Finish the first filter is the result.
  std::vector<Filter> filters_;
  double distinct_values_ = 0;  // after Finish
};

}  // namespace cfile::internal
