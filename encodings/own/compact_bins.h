// How the encoder of COMPACT divides numbers into bins (compact.h). Internal to COMPACT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cfile::encodings {

// Costs are multiples of 1 / kCostOfBit bits. They are integers, so that the same values always
// give the same bytes.
inline constexpr int64_t kCostOfBit = 4096;

// Returns log2(number), less than 0.006 bits too small. Precondition: number > 0.
int64_t CostOfLog2(uint64_t number);

// The numbers of a bin, and how many there are.
struct CompactBin {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t count = 0;

  void Add(uint64_t number) {
    least = number < least ? number : least;
    most = number > most ? number : most;
    ++count;
  }
  int width() const;  // the bits of an offset. Precondition: count > 0.
};

// Divides all numbers into intervals, and counts the numbers of each.
class CompactHistogram {
 public:
  static constexpr size_t kMostIntervals = 256;

  // Chooses intervals that have about the same number of numbers. `sample` has some of the numbers,
  // in ascending order. Preconditions: the sample is not empty; 1 <= most_intervals <=
  // kMostIntervals.
  CompactHistogram(std::span<const uint64_t> sample, size_t most_intervals);
  // An interval for each number from `least` to `most`. Precondition: 0 <= most - least <
  // kMostIntervals.
  CompactHistogram(uint64_t least, uint64_t most);

  // Counts a number, and returns its interval.
  size_t Add(uint64_t number) {
    // A binary search without branches, which would be hard to predict.
    size_t interval = 0;
    for (size_t step = kMostIntervals / 2; step > 0; step /= 2)
      interval += step * static_cast<size_t>(begins_[interval + step] <= number);
    if (interval >= size_) interval = size_ - 1;
    intervals_[interval].Add(number);
    return interval;
  }
  std::span<const CompactBin> intervals() const { return {intervals_, size_}; }

 private:
  uint64_t begins_[kMostIntervals];  // of the intervals; the first one has all numbers before, too
  CompactBin intervals_[kMostIntervals];
  size_t size_ = 1;
};

struct CompactBins {
  std::vector<CompactBin> bins;  // in ascending order
  std::vector<uint8_t> bin_of;   // the bin of each interval
  int64_t cost = 0;              // of the codes, the offsets and the bins
};
// Merges neighbouring intervals of a histogram to the bins that cost least. `cost_of_bin` is what
// each bin costs. Chooses bins that are decoded much faster, if they cost at most 1 / slack more:
// one bin for all numbers, or a bin for each number. Precondition: the histogram has numbers.
CompactBins ChooseBins(std::span<const CompactBin> intervals, int64_t cost_of_bin, int64_t slack);

// The weights of bins.
struct CompactWeights {
  std::vector<uint16_t> weights;
  int log = 0;  // the weights add up to 2^log
};
// Chooses weights with which codes for `bins` are short, and as few states as are enough for that.
// Precondition: 2 <= bins.size() <= kMostIntervals.
CompactWeights ChooseWeights(std::span<const CompactBin> bins);

}  // namespace cfile::encodings
