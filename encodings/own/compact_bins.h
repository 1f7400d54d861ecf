// Divides numbers into bins, for the encoder of COMPACT (compact.h). Internal to COMPACT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cfile::encodings {

// A cost is a number of bits as an integer, not as a float, so that the same values give the same
// bytes on every machine. kCostOfBit stands for one bit.
inline constexpr int64_t kCostOfBit = 4096;

// Returns log2(number) as a cost. The result is less than 0.006 bits too small. Precondition:
// number > 0.
int64_t CostOfLog2(uint64_t number);

// A bin, or an interval of a CompactHistogram, and the numbers that were added to it.
struct CompactBin {
  uint64_t least = UINT64_MAX;  // the least of the numbers
  uint64_t most = 0;            // the greatest of the numbers
  uint64_t count = 0;           // how many numbers were added

  void Add(uint64_t number, uint64_t times = 1) {
    least = number < least ? number : least;
    most = number > most ? number : most;
    count += times;
  }
  // Returns the number of bits of an offset in this bin. Precondition: count > 0.
  int width() const;
};

// Divides the range of uint64_t into intervals, and counts the numbers in each interval.
class CompactHistogram {
 public:
  static constexpr size_t kMostIntervals = 256;

  // Divides the numbers into at most `most_intervals` intervals, so that each interval gets about
  // as many numbers as the others. `sample` has some of the numbers, in ascending order.
  // Preconditions: the sample is not empty; 1 <= most_intervals <= kMostIntervals.
  CompactHistogram(std::span<const uint64_t> sample, size_t most_intervals);
  // Makes an interval for each number from `least` to `most`. All numbers that are added must be in
  // this range. Precondition: 0 <= most - least < kMostIntervals.
  CompactHistogram(uint64_t least, uint64_t most);

  // Adds a number that occurs `times` times to its interval. Returns the index of the interval.
  size_t Add(uint64_t number, uint64_t times = 1) {
    // A binary search without branches, which would be hard to predict.
    size_t interval = 0;
    for (size_t step = kMostIntervals / 2; step > 0; step /= 2)
      interval += step * static_cast<size_t>(begins_[interval + step] <= number);
    if (interval >= size_) interval = size_ - 1;
    intervals_[interval].Add(number, times);
    return interval;
  }
  std::span<const CompactBin> intervals() const { return {intervals_, size_}; }

 private:
  // The first number of each interval. Elements from size_ on are UINT64_MAX.
  uint64_t begins_[kMostIntervals];
  CompactBin intervals_[kMostIntervals];
  size_t size_ = 1;
};

struct CompactBins {
  std::vector<CompactBin> bins;  // in ascending order
  std::vector<uint8_t> bin_of;   // for each interval, the index of its bin
  int64_t cost = 0;              // the cost of the codes, the offsets and the bins together
};
// Merges neighbouring intervals of a histogram into bins, and chooses the bins with the lowest
// cost. `cost_of_bin`: the cost of storing a bin itself. There are two exceptions, because such
// bins are decoded much faster: one bin for all numbers, or one bin for each different number, is
// chosen if it costs at most 1 / slack more than the lowest cost. Precondition: the histogram has
// numbers.
CompactBins ChooseBins(std::span<const CompactBin> intervals, int64_t cost_of_bin, int64_t slack);

// The weights of bins (kernels/ans.h).
struct CompactWeights {
  std::vector<uint16_t> weights;  // an element for each bin
  int log = 0;                    // the weights add up to 2^log
};
// Chooses weights for `bins` and the number of states. More states make codes shorter; the function
// takes the smallest number of states with which the codes are almost as short as with the largest.
// Precondition: 2 <= bins.size() <= kMostIntervals.
CompactWeights ChooseWeights(std::span<const CompactBin> bins);

}  // namespace cfile::encodings
