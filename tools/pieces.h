// Divides work on an input among threads, piece by piece. The output does not depend on the number
// of threads.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace cfile::tools {

// The work: each piece is taken, then parsed, then appended to each lane, then finished. While a
// piece is at work, it has its own slot: a number less than NumSlots(). The number of slots limits
// the memory.
struct PieceWork {
  // Puts the next piece of the input into `slot`; false if there is none. Called by one thread at a
  // time. Must not throw.
  std::function<bool(size_t slot)> take;
  // Called for several pieces at once.
  std::function<absl::Status(size_t slot)> parse;
  // `append` is called for several lanes at once, but within a lane for one piece after another, in
  // order.
  size_t num_lanes = 0;
  std::function<absl::Status(size_t lane, size_t slot)> append = nullptr;
  // Called for one piece after another, in order. Must be short, because other threads wait. An
  // error ends all work.
  std::function<absl::Status(size_t slot)> finish;
};

// The number of slots: enough that a thread seldom waits for one.
inline size_t NumSlots(size_t num_threads) { return num_threads > 1 ? 2 * num_threads : 1; }

// Does all the work with `num_threads` threads, including the caller's. If several calls of parse
// and append fail, returns the error that a single thread would meet first. kResourceExhausted: a
// function threw an exception, usually std::bad_alloc. Precondition: num_threads > 0.
absl::Status RunPieces(size_t num_threads, const PieceWork& work);

}  // namespace cfile::tools
