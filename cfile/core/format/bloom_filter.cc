#include "cfile/core/format/bloom_filter.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/core/value_codes.h"
#include "encodings/kernels/count_ones.h"
#include "encodings/parquet/page_codec.h"

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
  CFILE_ASSERT(!filter.empty() && filter.size() % kBloomBlockBytes == 0);
  const size_t block = BloomBlockOf(hash, filter.size() / kBloomBlockBytes);
  const uint8_t* const bytes = encodings::AsBytes(filter).data() + block * kBloomBlockBytes;
  for (size_t i = 0; i < kWords; ++i) {
    if ((encodings::LoadLittleEndian<uint32_t>(bytes + 4 * i) & Mask(hash, i)) == 0) return false;
  }
  return true;
}

namespace {

// Estimates how many distinct values were added to `filter`. A value leaves a given bit of its
// block clear with probability 31/32. After n values the fraction of clear bits is therefore about
// exp(-n / (32 * num_blocks)).
double EstimateValues(std::span<const uint8_t> filter) {
  const uint64_t ones = encodings::CountOnes(filter, 0, 8 * filter.size());
  const double bits = 8 * static_cast<double>(filter.size());
  const double blocks = static_cast<double>(filter.size() / kBloomBlockBytes);
  return -32.0 * blocks * std::log1p(-static_cast<double>(ones) / bits);
}

std::span<const uint8_t> BytesOf(std::span<const BloomBlock> filter) {
  return {reinterpret_cast<const uint8_t*>(filter.data()), filter.size_bytes()};
}

constexpr size_t kLeastSlots = 1024;

}  // namespace

BloomHashSet::BloomHashSet(size_t max_bytes)
    : max_slots_(std::max(kLeastSlots, std::bit_floor(max_bytes / sizeof(uint64_t)))),
      multiplier_(encodings::ProcessHashSeed().first) {}

void BloomHashSet::Put(uint64_t hash, size_t slot) {
  if (hash == 0) {
    size_ += has_zero_ ? 0 : 1;
    has_zero_ = true;
    return;
  }
  uint64_t* const slots = slots_.data();
  const size_t mask = slots_.size() - 1;
  for (; slots[slot] != hash; slot = (slot + 1) & mask) {
    if (slots[slot] != 0) continue;
    slots[slot] = hash;
    ++size_;
    return;
  }
}

void BloomHashSet::Grow() {
  constexpr size_t kTimes = 4;
  std::vector<uint64_t> old(std::clamp(kTimes * slots_.size(), kLeastSlots, max_slots_));
  old.swap(slots_);
  shift_ = 64 - std::countr_zero(slots_.size());
  size_ = has_zero_ ? 1 : 0;
  for (const uint64_t hash : old) {
    if (hash != 0) Put(hash, SlotOf(hash));
  }
}

bool BloomHashSet::Add(std::span<const uint64_t> hashes) {
  CFILE_ASSERT(hashes.size() <= kBloomBatch);
  if (!HasRoom()) {
    if (slots_.size() >= max_slots_) return false;
    Grow();
  }
  size_t slots[kBloomBatch];
  for (size_t i = 0; i < hashes.size(); ++i) {
    slots[i] = SlotOf(hashes[i]);
    __builtin_prefetch(&slots_[slots[i]], 1);
  }
  for (size_t i = 0; i < hashes.size(); ++i) Put(hashes[i], slots[i]);
  return true;
}

void BloomHashSet::SetBits(std::span<BloomBlock> filter) const {
  uint64_t batch[kBloomBatch];
  size_t count = 0;
  if (has_zero_) batch[count++] = 0;
  for (const uint64_t hash : slots_) {
    if (hash == 0) continue;
    batch[count++] = hash;
    if (count == kBloomBatch) SetBloomBits({batch, std::exchange(count, 0)}, filter);
  }
  SetBloomBits({batch, count}, filter);
}

void BloomHashSet::Clear() {
  slots_ = {};
  size_ = 0;
  has_zero_ = false;
}

namespace {

// Hashes may take 1 / kHashesShare of the memory.
constexpr size_t kHashesShare = 4;
constexpr size_t kLeastHashBytes = BloomFilterBuilder::kLeastBytes / 2;

// Possible sizes, in blocks, of the filters that are filled at the same time: these four sizes
// times the powers of two. Each size is about 2^(1/4) times the previous one.
constexpr size_t kSizes[] = {128, 152, 181, 215};
size_t SizeAt(size_t i) { return kSizes[i % std::size(kSizes)] << (i / std::size(kSizes)); }

}  // namespace

BloomFilterBuilder::BloomFilterBuilder(uint32_t bits_per_value, size_t max_bytes)
    : bits_per_value_(bits_per_value),
      max_bytes_(max_bytes),
      hashes_(std::max(max_bytes / kHashesShare, kLeastHashBytes)) {
  CFILE_ASSERT(bits_per_value > 0);
}

void BloomFilterBuilder::Add(std::span<const uint64_t> hashes) {
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBloomBatch));
    hashes = hashes.subspan(batch.size());
    if (filters_.empty() && !hashes_.Add(batch)) BeginFilters();
    for (Filter& filter : filters_) SetBloomBits(batch, filter);
  }
}

void BloomFilterBuilder::BeginFilters() {
  const size_t room = std::max(max_bytes_, kLeastBytes) - hashes_.memory_usage_bytes();
  const auto bytes = [](size_t first) {
    size_t blocks = 0;
    for (size_t i = 0; i < kNumFilters; ++i) blocks += SizeAt(first + i);
    return blocks * kBloomBlockBytes;
  };
  size_t first = 0;
  while (bytes(first + 1) <= room) ++first;
  std::vector<Filter> filters;
  filters.reserve(kNumFilters);
  for (size_t i = 0; i < kNumFilters; ++i) {
    filters.emplace_back(SizeAt(first + i));
    hashes_.SetBits(filters.back());
  }
  hashes_.Clear();
  filters_ = std::move(filters);
}

absl::Status BloomFilterBuilder::AboveBudget(double filter_bytes, double memory_bytes) const {
  return OutOfRange("a Bloom filter of ", static_cast<uint64_t>(std::min(filter_bytes, 1e18)),
                    " bytes, ", bits_per_value_, " bits for each of about ",
                    static_cast<uint64_t>(std::min(distinct_values_, 1e18)),
                    " distinct values, takes up to ",
                    static_cast<uint64_t>(std::min(memory_bytes, 1e18)), " bytes of memory, ",
                    AboveLimit(max_bytes_, "max_bloom_filter_bytes"));
}

absl::Status BloomFilterBuilder::Finish() {
  if (!filters_.empty()) return FinishFilters();
  distinct_values_ = static_cast<double>(hashes_.size());
  const double wanted = std::ceil(distinct_values_ * bits_per_value_ / (8 * kBloomBlockBytes));
  const double bytes = std::max(wanted, 1.0) * kBloomBlockBytes;
  if (bytes > static_cast<double>(max_bytes_)) return AboveBudget(bytes, bytes);
  Filter filter(static_cast<size_t>(bytes) / kBloomBlockBytes);
  hashes_.SetBits(filter);
  hashes_.Clear();
  filters_.push_back(std::move(filter));
  return absl::OkStatus();
}

absl::Status BloomFilterBuilder::FinishFilters() {
  distinct_values_ = EstimateValues(BytesOf(filters_.back()));
  const double wanted = distinct_values_ * bits_per_value_ / (8 * kBloomBlockBytes);
  constexpr double kMostTooSmall = 1.1;
  if (!(wanted <= kMostTooSmall * static_cast<double>(filters_.back().size()))) {
    // With this multiple of the wanted size, there is room for four filters, and the largest filter
    // is large enough.
    constexpr double kMemoryTimes = 5;
    return AboveBudget(wanted * kBloomBlockBytes,
                       kMemoryTimes * wanted * kBloomBlockBytes + kLeastHashBytes);
  }
  size_t best = 0, best_size = 0;
  double best_ratio = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < filters_.size(); ++i) {
    for (size_t size = filters_[i].size();; size /= 2) {
      const double ratio =
          std::max(static_cast<double>(size) / wanted, wanted / static_cast<double>(size));
      if (ratio < best_ratio) {
        best = i;
        best_size = size;
        best_ratio = ratio;
      }
      if (size % 2 != 0) break;
    }
  }
  if (const size_t bytes = best_size * kBloomBlockBytes; bytes > max_bytes_)
    return AboveBudget(static_cast<double>(bytes), static_cast<double>(bytes));
  Filter filter = std::move(filters_[best]);
  filters_.clear();
  for (size_t size = filter.size(); size > best_size;) {
    size /= 2;
    for (size_t i = 0; i < size; ++i) {
      for (size_t word = 0; word < kWords; ++word)
        filter[i].words[word] = filter[2 * i].words[word] | filter[2 * i + 1].words[word];
    }
  }
  filter.resize(best_size);
  filters_.push_back(std::move(filter));
  return absl::OkStatus();
}

std::span<const uint8_t> BloomFilterBuilder::filter() const { return BytesOf(filters_.front()); }

BloomFilterInfo BloomFilterBuilder::info() const {
  return {.size_bytes = filter().size(),
          .distinct_values = static_cast<uint64_t>(std::llround(distinct_values_))};
}

size_t BloomFilterBuilder::memory_usage_bytes() const {
  size_t bytes = hashes_.memory_usage_bytes();
  for (const Filter& filter : filters_) bytes += filter.capacity() * sizeof(BloomBlock);
  return bytes;
}

}  // namespace cfile::internal

namespace cfile {

BloomFilterInfo DescribeBloomFilter(std::string_view filter) {
  if (filter.size() < BloomFilterInfo::kBlockBytes) return {};
  const double values = internal::EstimateValues(encodings::AsBytes(filter));
  // If all bits are set, the estimate is infinite.
  constexpr double kMost = 1e18;
  return {.size_bytes = filter.size(),
          .distinct_values = static_cast<uint64_t>(std::llround(std::min(values, kMost)))};
}

}  // namespace cfile
