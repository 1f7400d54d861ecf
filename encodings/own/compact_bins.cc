#include "encodings/own/compact_bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "encodings/core/assert.h"
#include "encodings/kernels/ans.h"

namespace cfile::encodings {
namespace {

// The index of kLogs has this many bits: the first bits of a mantissa.
constexpr int kLogBits = 8;

// Element i is log2(1 + i / 2^kLogBits) as a cost.
constexpr auto kLogs = [] {
  std::array<int16_t, 1 << kLogBits> logs{};
  for (size_t i = 0; i < logs.size(); ++i) {
    double number = 1 + static_cast<double>(i) / logs.size();
    int log = 0;
    for (int64_t bit = kCostOfBit / 2; bit > 0; bit /= 2) {
      number *= number;
      if (number < 2) continue;
      number /= 2;
      log += static_cast<int>(bit);
    }
    logs[i] = static_cast<int16_t>(log);
  }
  return logs;
}();

// Returns the cost of the codes and the offsets of `count` numbers in a bin of this width, without
// count * log2(n). n is the number of all numbers in all bins. The sum of these terms is the same
// for each division into bins, so ChooseBins adds it only once.
int64_t CostOfBin(uint64_t count, int width) {
  return static_cast<int64_t>(count) * (width * kCostOfBit - CostOfLog2(count));
}

// Returns the bin that has the numbers of both bins.
CompactBin Merged(const CompactBin& a, const CompactBin& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most), a.count + b.count};
}

// Returns weights that are about proportional to the counts of the bins, and add up to 2^log. No
// weight is 0. Precondition: 2^log >= bins.size().
std::vector<uint16_t> WeightsOf(std::span<const CompactBin> bins, int log) {
  uint64_t count = 0;
  for (const CompactBin& bin : bins) count += bin.count;
  const int64_t size = int64_t{1} << log;
  std::vector<uint16_t> weights;
  int64_t left = size;
  for (const CompactBin& bin : bins) {
    const uint64_t share = ((bin.count << log) + count / 2) / count;
    weights.push_back(static_cast<uint16_t>(std::max<uint64_t>(share, 1)));
    left -= weights.back();
  }
  // Corrects the sum, each time by 1 at the largest weight, which is the smallest relative change.
  for (; left != 0; left += left < 0 ? 1 : -1) {
    uint16_t& largest = *std::max_element(weights.begin(), weights.end());
    largest = static_cast<uint16_t>(largest + (left < 0 ? -1 : 1));
  }
  return weights;
}

}  // namespace

int64_t CostOfLog2(uint64_t number) {
  CFILE_ASSERT(number > 0);
  const int exponent = static_cast<int>(std::bit_width(number)) - 1;
  const uint64_t mantissa = number << (63 - exponent) << 1;
  return exponent * kCostOfBit + kLogs[mantissa >> (64 - kLogBits)];
}

int CompactBin::width() const { return static_cast<int>(std::bit_width(most - least)); }

CompactHistogram::CompactHistogram(std::span<const uint64_t> sample, size_t most_intervals) {
  CFILE_ASSERT(!sample.empty() && 0 < most_intervals && most_intervals <= kMostIntervals);
  std::fill(std::begin(begins_), std::end(begins_), UINT64_MAX);
  begins_[0] = 0;
  const auto begin = [&](uint64_t number) {
    if (size_ < most_intervals && number > begins_[size_ - 1]) begins_[size_++] = number;
  };
  size_t different = 1;
  for (size_t i = 1; i < sample.size() && different <= most_intervals; ++i)
    different += sample[i] != sample[i - 1] ? 1 : 0;
  if (different <= most_intervals) {
    for (const uint64_t number : sample) begin(number);
    return;
  }
  for (size_t i = 1; i < most_intervals; ++i) {
    const uint64_t number = sample[i * sample.size() / most_intervals];
    // If an interval already begins with this number, the number is frequent: the next interval
    // begins after it, so that it has an interval of its own.
    if (number == begins_[size_ - 1] && number != UINT64_MAX) {
      begin(number + 1);
    } else {
      begin(number);
    }
  }
}

CompactHistogram::CompactHistogram(uint64_t least, uint64_t most) : size_(most - least + 1) {
  CFILE_ASSERT(least <= most && most - least < kMostIntervals);
  std::fill(std::begin(begins_), std::end(begins_), UINT64_MAX);
  for (size_t i = 0; i < size_; ++i) begins_[i] = least + i;
}

CompactBins ChooseBins(std::span<const CompactBin> intervals, int64_t cost_of_bin, int64_t slack) {
  // The intervals that have numbers.
  std::vector<CompactBin> used;
  CompactBins result;
  for (const CompactBin& interval : intervals) {
    result.bin_of.push_back(static_cast<uint8_t>(used.size()));
    if (interval.count > 0) used.push_back(interval);
  }
  // costs[i] is the lowest cost of bins for the first i intervals of `used`. begins[i] is the first
  // interval of the last of these bins.
  std::vector<int64_t> costs(used.size() + 1, std::numeric_limits<int64_t>::max());
  std::vector<size_t> begins(used.size() + 1, 0);
  costs[0] = 0;
  int64_t cost_of_one = 0;   // the cost of one bin for all intervals
  int64_t cost_of_each = 0;  // the cost of a bin for each interval
  bool one_number = true;    // each interval has only one different number
  CompactBin all;
  for (size_t end = 1; end <= used.size(); ++end) {
    CompactBin bin;
    for (size_t begin = end; begin-- > 0;) {
      bin = Merged(bin, used[begin]);
      const int64_t cost = CostOfBin(bin.count, bin.width()) + cost_of_bin;
      if (costs[begin] + cost < costs[end]) {
        costs[end] = costs[begin] + cost;
        begins[end] = begin;
      }
      cost_of_one = cost;
    }
    all = bin;
    one_number = one_number && used[end - 1].width() == 0;
    cost_of_each += CostOfBin(used[end - 1].count, 0) + cost_of_bin;
  }
  // The part that CostOfBin leaves out.
  const int64_t cost_of_all = static_cast<int64_t>(all.count) * CostOfLog2(all.count);
  result.cost = costs.back() + cost_of_all;
  const int64_t most = result.cost + result.cost / slack - cost_of_all;
  if (cost_of_one <= most) {
    result.cost = cost_of_one + cost_of_all;
    result.bins = {all};
    std::fill(result.bin_of.begin(), result.bin_of.end(), uint8_t{0});
    return result;
  }
  if (one_number && cost_of_each <= most) {
    result.cost = cost_of_each + cost_of_all;
    for (size_t end = 1; end <= used.size(); ++end) begins[end] = end - 1;
  }
  std::vector<size_t> ends;
  for (size_t end = used.size(); end > 0; end = begins[end]) ends.push_back(end);
  std::vector<uint8_t> bin_of_used;
  for (size_t begin = 0; begin < used.size(); begin = ends.back(), ends.pop_back()) {
    CompactBin bin;
    for (size_t i = begin; i < ends.back(); ++i) {
      bin = Merged(bin, used[i]);
      bin_of_used.push_back(static_cast<uint8_t>(result.bins.size()));
    }
    result.bins.push_back(bin);
  }
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].count > 0) result.bin_of[i] = bin_of_used[result.bin_of[i]];
  }
  return result;
}

CompactWeights ChooseWeights(std::span<const CompactBin> bins) {
  CompactWeights best;
  int64_t best_cost = 0;
  for (int log = kMaxAnsLog; log >= kMinAnsLog; --log) {
    if (bins.size() > size_t{1} << log) break;
    std::vector<uint16_t> weights = WeightsOf(bins, log);
    int64_t cost = 0;
    for (size_t i = 0; i < bins.size(); ++i) {
      cost += static_cast<int64_t>(bins[i].count) *
              (log * kCostOfBit - CostOfLog2(weights[i]) + bins[i].width() * kCostOfBit);
    }
    if (log == kMaxAnsLog) best_cost = cost;
    if (cost > best_cost + best_cost / 512) break;
    best = {std::move(weights), log};
  }
  return best;
}

}  // namespace cfile::encodings
