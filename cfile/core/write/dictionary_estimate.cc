#include "cfile/core/write/dictionary_estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "encodings/core/value_codes.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::internal {
namespace {

using encodings::EncoderOptions;
using encodings::kIsBytes;

// Counts of the distinct values of a sample.
struct DistinctValues {
  size_t distinct = 0;
  size_t once = 0;        // distinct values that occur once
  size_t twice = 0;       // distinct values that occur twice
  size_t new_at_end = 0;  // distinct values that the last quarter of the sample has first
  size_t runs = 0;        // runs of equal values
  size_t bytes = 0;       // size of the distinct values in a dictionary
};

// Returns where the last quarter of a sample begins.
size_t FirstAtEnd(size_t sample_values) { return sample_values - sample_values / 4; }

template <typename P>
DistinctValues CountDistinct(std::span<const P> values) {
  encodings::ValueCodes<P> codes(kIsBytes<P> ? sizeof(uint32_t) : 0,
                                 std::numeric_limits<uint32_t>::max() - 1, values.size());
  std::vector<uint32_t> code_of(values.size());
  codes.CodesOf(values, code_of.data());
  std::vector<uint32_t> counts(codes.size());
  DistinctValues found{.distinct = counts.size(), .bytes = codes.bytes()};
  for (size_t i = 0; i < code_of.size(); ++i) {
    if (counts[code_of[i]]++ == 0 && i >= FirstAtEnd(code_of.size())) ++found.new_at_end;
    if (i == 0 || code_of[i] != code_of[i - 1]) ++found.runs;
  }
  for (const uint32_t count : counts) {
    found.once += count == 1;
    found.twice += count == 2;
  }
  return found;
}

// Estimates the number of distinct values of a column of `column_values` values, from a sample of
// `count` values. Chao's estimator holds if all parts of the column draw their values from one set:
// values at the end of the sample are then new about as often as values of the sample occur once
// (the estimator of Good and Turing). If more of them are new, each part of the column has values
// of its own, and the rest of the column adds values, too, unless the end of the sample adds much
// fewer than the other parts.
double ExtrapolateDistinct(const DistinctValues& found, size_t count, uint64_t column_values) {
  // By chance, the first rate may be greater than the second by about this factor.
  constexpr double kChance = 1.5;
  const auto distinct = static_cast<double>(found.distinct);
  const auto once = static_cast<double>(found.once);
  const double all = distinct + once * once / (2 * std::max(1.0, static_cast<double>(found.twice)));
  const size_t at_end = count - FirstAtEnd(count);
  constexpr size_t kMuchFewer = 2;
  if (at_end == 0 || found.new_at_end * count * kMuchFewer < found.distinct * at_end) return all;
  const double excess = static_cast<double>(found.new_at_end) / static_cast<double>(at_end) -
                        kChance * once / static_cast<double>(count);
  const double growing = distinct + excess * static_cast<double>(column_values - count);
  return std::max(all, growing);
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

}  // namespace

std::optional<DictionarySizes> EstimateDictionary(encodings::ValueSpan values,
                                                  encodings::PhysicalType type,
                                                  uint64_t column_values,
                                                  const EncoderOptions& options) {
  const DistinctValues found = encodings::VisitPhysicalType(
      type,
      [&]<typename T>(std::type_identity<T>) { return CountDistinctAsPages(values.As<T>()); });
  const auto count = static_cast<double>(values.count);
  const auto distinct = static_cast<double>(found.distinct);
  const double all = ExtrapolateDistinct(found, values.count, column_values);
  const double entry_bytes = static_cast<double>(found.bytes) / distinct;
  if (all * entry_bytes > static_cast<double>(options.max_dictionary_bytes)) return std::nullopt;
  const auto width_of = [](double distinct_values) {
    return static_cast<double>(std::bit_width(static_cast<uint64_t>(distinct_values) - 1));
  };
  const double width = width_of(all);
  const double code_bytes = width / 8;
  const double codes =
      std::min(count * code_bytes, static_cast<double>(found.runs) * (2 + std::ceil(code_bytes)));
  // The share if the dictionary is for `block_values` values.
  const auto share_of = [&](double block_values) {
    return count * std::min(all, block_values) * entry_bytes / block_values;
  };
  constexpr double kManyBlocks = 8;
  const double full_block =
      std::max(count, static_cast<double>(options.block_size_bytes) / std::max(code_bytes, 0.125));
  return DictionarySizes{
      .codes = codes,
      .wider = width / std::max(1.0, width_of(distinct)),
      .share = share_of(std::min(full_block, static_cast<double>(column_values))),
      .least_share = share_of(kManyBlocks * full_block)};
}

}  // namespace cfile::internal
