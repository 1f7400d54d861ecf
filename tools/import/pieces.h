// Divides work on an input among threads, piece by piece, so that what comes out does not depend on
// them.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace cfile::tools {

// A piece is taken, parsed, then appended to each of some lanes, then finished. It has a slot of
// its own meanwhile: a number below NumSlots(), used again when it is finished. That bounds the
// memory.
struct PieceWork {
  // Puts the next piece of the input into `slot`; false behind the last one. Not two at once; must
  // not throw.
  std::function<bool(size_t slot)> take;
  // Many pieces at once.
  std::function<absl::Status(size_t slot)> parse;
  // Piece after piece in each lane, all lanes at once.
  size_t num_lanes = 0;
  std::function<absl::Status(size_t lane, size_t slot)> append = nullptr;
  // Piece after piece. Not two at once; short work. An error ends all other work.
  std::function<absl::Status(size_t slot)> finish;
};

// Enough that a thread seldom waits for a slot.
inline size_t NumSlots(size_t num_threads) { return num_threads > 1 ? 2 * num_threads : 1; }

// Does all the work with `num_threads`, the caller's being one of them. Of several errors of parse
// and append it returns the one that a single thread meets first. kResourceExhausted: an exception,
// no memory in most cases. Precondition: num_threads > 0.
absl::Status RunPieces(size_t num_threads, const PieceWork& work);

}  // namespace cfile::tools
