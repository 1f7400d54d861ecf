#include "cfile/internal/bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "encodings/bytes.h"
#include "encodings/page_codec.h"
#include "encodings/physical_type.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace cfile::internal {
namespace {

constexpr size_t kWords = kBloomBlockWords;

uint32_t Mask(uint64_t hash, size_t word) {
  return uint32_t{1} << (static_cast<uint32_t>(hash) * kBloomSalts[word] >> 27);
}

}  // namespace

template <typename T>
uint64_t BloomHash(const T& value) {
  if constexpr (encodings::kIsBytes<T>) {
    return XXH64(value.data(), value.size(), 0);
  } else if constexpr (std::is_same_v<T, encodings::int128_t>) {
    uint8_t bytes[16];
    for (int i = 0; i < 16; ++i)
      bytes[i] = static_cast<uint8_t>(static_cast<encodings::uint128_t>(value) >> (8 * (15 - i)));
    return XXH64(bytes, sizeof bytes, 0);
  } else if constexpr (std::is_same_v<T, encodings::Int96>) {
    return XXH64(&value, sizeof value, 0);
  } else {
    // The library runs on little-endian machines only.
    const auto plain = static_cast<encodings::PageType<T>>(value);
    return XXH64(&plain, sizeof plain, 0);
  }
}

#define CFILE_INSTANTIATE(T) template uint64_t BloomHash<T>(const T&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

bool BloomMightContain(std::string_view filter, uint64_t hash) {
  assert(!filter.empty() && filter.size() % kBloomBlockBytes == 0);
  const size_t block = BloomBlockOf(hash, filter.size() / kBloomBlockBytes);
  const uint8_t* const bytes = encodings::AsBytes(filter).data() + block * kBloomBlockBytes;
  for (size_t i = 0; i < kWords; ++i) {
    if ((encodings::LoadLittleEndian<uint32_t>(bytes + 4 * i) & Mask(hash, i)) == 0) return false;
  }
  return true;
}

BloomFilterBuilder::BloomFilterBuilder(uint32_t bits_per_value, size_t max_bytes)
    : bits_per_value_(bits_per_value), words_(std::bit_floor(max_bytes) / sizeof(uint32_t)) {
  assert(bits_per_value > 0 && max_bytes >= kBloomBlockBytes);
}

// A value leaves a bit of a word of its block clear with probability 31/32, so of n values thrown
// into b blocks exp(-n / b / 32) of the bits stay clear.
double BloomFilterBuilder::EstimateValues() const {
  uint64_t ones = 0;
  for (const uint32_t word : words_) ones += static_cast<uint64_t>(std::popcount(word));
  const double bits = 32.0 * static_cast<double>(words_.size());
  const double blocks = static_cast<double>(words_.size() / kWords);
  return -32.0 * blocks * std::log1p(-static_cast<double>(ones) / bits);
}

std::string BloomFilterBuilder::Finish() {
  const double wanted_bits = EstimateValues() * bits_per_value_;
  size_t words = words_.size();
  if (!(wanted_bits <= 2 * 32.0 * static_cast<double>(words))) return {};
  // Block i of half as many is where those of the blocks 2 * i and 2 * i + 1 go.
  while (words > kWords && wanted_bits <= 16.0 * static_cast<double>(words)) {
    words /= 2;
    for (size_t i = 0; i < words; ++i) {
      const size_t from = i / kWords * 2 * kWords + i % kWords;
      words_[i] = words_[from] | words_[from + kWords];
    }
  }
  return std::string(reinterpret_cast<const char*>(words_.data()), words * sizeof(uint32_t));
}

}  // namespace cfile::internal
