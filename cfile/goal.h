// The numbers of each Goal (cfile/options.h).
#pragma once

#include "cfile/options.h"

namespace cfile {

struct GoalLimits {
  double bytes_per_second;  // the least speed of a scan, in decoded bytes
  double factor;            // the most that a file may exceed the smallest one: 1.1 is 10 %
  double compressed_to;     // a block is compressed if this makes it at most this part of its size
};

constexpr GoalLimits LimitsOf(Goal goal) {
  switch (goal) {
    case Goal::kSize:
      return {.bytes_per_second = 0.25e9, .factor = 1.02, .compressed_to = 0.9};
    case Goal::kSpeed:
      return {.bytes_per_second = 6e9, .factor = 2, .compressed_to = 0};
    case Goal::kBalanced:
      break;
  }
  return {.bytes_per_second = 2e9, .factor = 1.1, .compressed_to = 0.85};
}

}  // namespace cfile
