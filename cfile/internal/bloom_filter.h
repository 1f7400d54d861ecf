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

namespace cfile::internal {

inline constexpr size_t kBloomBlockBytes = 32;
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

// Collects values whose number is not known. It fills a filter of the largest size from the start;
// the bits set tell how many different values there were, and with the size asked for that number
// halves of it are laid over each other: with a power of two blocks that gives the bits that the
// smaller filter would have had. Thread-compatible.
class BloomFilterBuilder {
 public:
  // A filter takes at most `max_bytes`. Preconditions: max_bytes >= kBloomBlockBytes,
  // bits_per_value > 0.
  BloomFilterBuilder(uint32_t bits_per_value, size_t max_bytes);

  void Add(std::span<const uint64_t> hashes);

  template <typename T>
  void AddValues(std::span<const T> values) {
    uint64_t hashes[128];
    for (size_t begin = 0; begin < values.size(); begin += std::size(hashes)) {
      const size_t count = std::min(values.size() - begin, std::size(hashes));
      for (size_t i = 0; i < count; ++i) hashes[i] = BloomHash(values[begin + i]);
      Add({hashes, count});
    }
  }

  // The filter, of a power of two bytes: about `bits_per_value` or more for each different value.
  // Empty if the largest filter has less than half of that: then it would let most pass.
  std::string Finish();

  size_t memory_usage_bytes() const { return words_.size() * sizeof(uint32_t); }

 private:
  double EstimateValues() const;

  uint32_t bits_per_value_;
  std::vector<uint32_t> words_;
};

}  // namespace cfile::internal
