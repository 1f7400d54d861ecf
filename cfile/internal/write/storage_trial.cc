// Tries the encodings on a sample of a block's values, and estimates the size and the scan time of
// each. Chooses the storage of the block: its encoding, and whether it is compressed.
#include "cfile/internal/write/storage_trial.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "cfile/internal/format/compress.h"
#include "cfile/internal/format/compression.h"
#include "encodings/core/bytes.h"
#include "encodings/core/value_codes.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::EncodedBlock;
using encodings::EncoderOptions;
using encodings::EncodingRow;
using encodings::kIsBytes;

// The thresholds of a Goal.
struct Rule {
  double picoseconds_per_byte;  // time limit of a scan, per byte of decoded values
  double slack;                 // largest acceptable size, relative to the smallest
  double compressed_to;         // largest acceptable compressed size, relative to uncompressed
};
constexpr Rule RuleOf(Goal goal) {
  switch (goal) {
    case Goal::kSize:
      return {.picoseconds_per_byte = 4000, .slack = 1.05, .compressed_to = 0.9};
    case Goal::kSpeed:
      return {.picoseconds_per_byte = 1000.0 / 6, .slack = 2, .compressed_to = 0.5};
    case Goal::kBalanced:
      break;
  }
  return {.picoseconds_per_byte = 500, .slack = 1.15, .compressed_to = 0.75};
}

// Cost multiplier for encodings that must decode values to search by key.
constexpr double kSearchFactor = 4;

// The bytes of a block besides its values (envelope, checksum and index entry), and of a dictionary
// besides its values. They make a difference if the values take almost no space.
constexpr double kBlockBytes = 64;
constexpr double kDictionaryBytes = 40;

// With AutoOptions::compress_all, a block is compressed if this makes its size at most this
// fraction of the uncompressed size.
constexpr double kAlwaysCompressedTo = 0.9;

// A way to store the sample, with its estimated size and time.
struct Candidate {
  Storage storage;
  double bytes = 0;
  double picoseconds = 0;  // of a scan
};

// Counts of the distinct values of a sample.
struct DistinctValues {
  size_t distinct = 0;
  size_t once = 0;   // distinct values that occur once
  size_t twice = 0;  // distinct values that occur twice
  size_t runs = 0;   // runs of equal values
  size_t bytes = 0;  // size of the distinct values in a dictionary
};

template <typename P>
DistinctValues CountDistinct(std::span<const P> values) {
  encodings::ValueCodes<P> codes(kIsBytes<P> ? sizeof(uint32_t) : 0,
                                 std::numeric_limits<uint32_t>::max() - 1, values.size());
  std::vector<uint32_t> code_of(values.size());
  codes.CodesOf(values, code_of.data());
  std::vector<uint32_t> counts(codes.size());
  DistinctValues found{.distinct = counts.size(), .bytes = codes.bytes()};
  for (size_t i = 0; i < code_of.size(); ++i) {
    ++counts[code_of[i]];
    if (i == 0 || code_of[i] != code_of[i - 1]) ++found.runs;
  }
  for (const uint32_t count : counts) {
    found.once += count == 1;
    found.twice += count == 2;
  }
  return found;
}

template <typename T>
DistinctValues CountDistinctAsPages(std::span<const T> values) {
  using P = encodings::PageType<T>;
  if constexpr (std::is_same_v<T, P>) {
    return CountDistinct<P>(values);
  } else {
    std::vector<P> converted;
    converted.reserve(values.size());
    for (const T& value : values) {
      if constexpr (kIsBytes<P>) {
        converted.emplace_back(reinterpret_cast<const char*>(&value), sizeof(T));
      } else {
        converted.push_back(static_cast<P>(value));
      }
    }
    return CountDistinct<P>(converted);
  }
}

// Estimates the size of the sample if it is dictionary-encoded: its codes plus its share of the
// dictionary. A sample shows only some of a file's values, so the number of distinct values is
// estimated from the values that occur once and twice (Chao's estimator). The share is the
// dictionary's size times the number of values in the sample, divided by the number of values in
// one block. The dictionary counts with at most as many entries as a block has values. Returns
// nullopt if the whole dictionary would exceed its limit.
template <typename T>
std::optional<double> DictionaryBytes(std::span<const T> values, const EncoderOptions& options) {
  const DistinctValues found = CountDistinctAsPages(values);
  const auto count = static_cast<double>(values.size());
  const auto distinct = static_cast<double>(found.distinct);
  const auto once = static_cast<double>(found.once);
  const double all = distinct + once * once / (2 * std::max(1.0, static_cast<double>(found.twice)));
  const double entry_bytes = static_cast<double>(found.bytes) / distinct;
  if (all * entry_bytes > static_cast<double>(options.max_dictionary_bytes)) return std::nullopt;
  const auto width = static_cast<double>(std::bit_width(static_cast<uint64_t>(all) - 1));
  const double code_bytes = width / 8;
  const double codes =
      std::min(count * code_bytes, static_cast<double>(found.runs) * (2 + std::ceil(code_bytes)));
  const double block_values =
      std::max(count, static_cast<double>(options.block_size_bytes) / std::max(code_bytes, 0.125));
  return kDictionaryBytes + codes +
         count * std::min(all, block_values) * entry_bytes / block_values;
}

// Encodes the sample into one block: skip table and values. nullopt if the sample does not fit.
template <typename T>
std::optional<ByteWriter> EncodeSample(std::span<const T> values, PhysicalType type,
                                       EncoderOptions options, Encoding encoding) {
  options.block_size_bytes = std::numeric_limits<int32_t>::max();
  auto encoder = encodings::MakeEncoder<T>(encoding, type, options);
  assert(encoder.ok());
  if ((*encoder)->Append(values) < values.size()) return std::nullopt;
  EncodedBlock block;
  (*encoder)->Finish(0, block);
  ByteWriter bytes = std::move(block.skip_table);
  bytes.PutBytes(block.bytes.span());
  return bytes;
}

// Among the candidates within the budget, chooses the fastest whose size is at most `slack` times
// the smallest.
Storage Choose(std::span<const Candidate> candidates, double budget, double slack) {
  const auto allowed = [&](const Candidate& each) { return each.picoseconds <= budget; };
  double smallest = std::numeric_limits<double>::infinity();
  for (const Candidate& each : candidates) {
    if (allowed(each)) smallest = std::min(smallest, each.bytes);
  }
  // The first candidate is PLAIN: never choose a larger one.
  const double most = std::min(slack * smallest, candidates.front().bytes);
  const Candidate* best = nullptr;
  for (const Candidate& each : candidates) {
    if (!allowed(each) || each.bytes > most) continue;
    if (best == nullptr || each.picoseconds < best->picoseconds ||
        (each.picoseconds == best->picoseconds && each.bytes < 0.99 * best->bytes)) {
      best = &each;
    }
  }
  return best == nullptr ? candidates.front().storage : best->storage;
}

}  // namespace

std::vector<const EncodingRow*> TrialCandidates(PhysicalType type) {
  std::vector<const EncodingRow*> candidates;
  for (const EncodingRow& row : encodings::Encodings()) {
    if (row.automatic && row.Supports(type)) candidates.push_back(&row);
  }
  return candidates;
}

template <typename T>
Storage TryStorage(std::span<const T> values, PhysicalType type, const EncoderOptions& options,
                   const AutoOptions& choice, std::span<const EncodingRow* const> rows) {
  const Rule rule = RuleOf(choice.goal);
  const auto own_bytes = static_cast<double>(encodings::OwnBytes(values));
  const double views = kIsBytes<T> ? static_cast<double>(values.size_bytes()) : 0;
  const double budget = rule.picoseconds_per_byte * (own_bytes + views);
  const auto count = static_cast<double>(values.size());
  std::vector<Candidate> candidates;
  ByteWriter compressed;
  for (const EncodingRow* row : rows) {
    Candidate candidate{.storage = {.row = row, .compressed = choice.compress_all}};
    candidate.picoseconds = count * (kIsBytes<T> ? row->scan_cost.string : row->scan_cost.number) +
                            own_bytes * row->scan_cost.byte;
    if (choice.value_index && row->scan_cost.decodes_to_search)
      candidate.picoseconds *= kSearchFactor;
    if (row->has_dictionary) {
      const std::optional<double> bytes = DictionaryBytes(values, options);
      if (!bytes) continue;
      candidate.bytes = kBlockBytes + *bytes;
      candidates.push_back(candidate);
      continue;
    }
    const std::optional<ByteWriter> bytes = EncodeSample(values, type, options, row->encoding);
    if (!bytes) continue;
    candidate.bytes = kBlockBytes + static_cast<double>(bytes->size());
    const auto decompression = [&](size_t compressed_size) {
      return choice.compress_all ? 0.0
                                 : static_cast<double>(DecompressionPicoseconds(
                                       choice.compression, compressed_size, bytes->size()));
    };
    compressed.Clear();
    const bool try_codec = choice.compression != Compression::kNone &&
                           candidate.picoseconds + decompression(0) <= budget;
    if (!try_codec ||
        !Compress(choice.compression, bytes->span(), compressed, choice.compression_level).ok()) {
      candidates.push_back(candidate);
      continue;
    }
    const double most = choice.compress_all ? kAlwaysCompressedTo : rule.compressed_to;
    const double compressed_bytes = kBlockBytes + static_cast<double>(compressed.size());
    const bool pays = compressed_bytes <= most * candidate.bytes;
    if (!pays || !choice.compress_all) candidates.push_back(candidate);
    if (!pays) continue;
    candidates.push_back({.storage = {.row = row, .compressed = true},
                          .bytes = compressed_bytes,
                          .picoseconds = candidate.picoseconds + decompression(compressed.size())});
  }
  return Choose(candidates, budget, rule.slack);
}

#define CFILE_INSTANTIATE(T)                                                              \
  template Storage TryStorage<T>(std::span<const T>, PhysicalType, const EncoderOptions&, \
                                 const AutoOptions&, std::span<const EncodingRow* const>);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
