// A stream whose ranges of rows several threads read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/arrow_c_data.h"
#include "cfile/batch.h"

namespace cfile_python {

// Opens the stream of a range. Called in any thread.
using OpenRange =
    std::function<absl::Status(const cfile::OrdinalRange& range, ArrowArrayStream* stream)>;

struct ParallelOptions {
  size_t threads = 2;
  size_t max_batches = 4;  // of one range that wait in memory
  std::string name;        // for messages
};

// Makes a stream of the batches of `ranges`, in order. The streams of the ranges have the same
// type. Keeps at most threads + 1 ranges in memory. Handlers of signals run while a consumer waits.
// Errors: those of opening the first range. Precondition: there is a range.
absl::Status MakeParallelStream(std::vector<cfile::OrdinalRange> ranges, OpenRange open,
                                const ParallelOptions& options, ArrowArrayStream* out);

}  // namespace cfile_python
