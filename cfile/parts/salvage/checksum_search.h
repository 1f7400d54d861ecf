// Finds blocks by their checksums in a file whose index is lost, so that their offsets are unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/io.h"

namespace cfile::internal {

// Finds all pairs (s, e) for which the 4 bytes at offset e are the CRC32C of the bytes from s to e.
// One pass finds all pairs. Its time grows with the number of bytes, not of pairs.
//
// The CRC register is a polynomial modulo the CRC's polynomial. Each further byte multiplies the
// register by x^8 and adds the byte. After division by x^(8 e), the contribution of the bytes from
// s to e is a difference U(e) - U(s), where U(p) is the contribution of all bytes from the begin of
// the search to p. The initial register, all ones, becomes J(s) = ones / x^(8 s). So the checksum
// matches if a number that depends only on s equals a number that depends only on e. For each e, a
// hash table of the numbers of all s finds the matches:
//
//   J(s) + U(s) = J(e) + U(e + 4)
//
// Thread-compatible. Memory: 12 bytes for each possible begin (see Find) and, if the source is not
// in memory, twice the size of the largest block.
class ChecksumSearch {
 public:
  // `source` must outlive this object. Bytes from the offset `end` on are ignored.
  ChecksumSearch(const Source& source, uint64_t end) : source_(source), end_(end) {}

  // The visitor's decision about a block whose checksum matches. By chance, one pair in 2^32
  // matches.
  struct Judgement {
    bool accepted = false;
    // How many bytes were decoded for the decision.
    uint64_t cost_bytes = 0;
  };
  // `bytes`: the whole block with its checksum, valid during the call.
  using Visit =
      std::function<Judgement(const BlockPointer& pointer, std::span<const uint8_t> bytes)>;

  // Visits the blocks that begin at `first` to `last` and whose checksum matches, in the order of
  // their ends. Returns the first block that `visit` accepts, or nullopt. With at most kMostBegins
  // possible begins, all blocks of up to `max_size` bytes are found; with more begins, all blocks
  // of up to kMostBegins bytes. Stops visiting a size class once false matches, counted over all
  // calls, far exceed what chance explains (adversarial input). Errors: those of the source.
  absl::StatusOr<std::optional<BlockPointer>> Find(uint64_t first, uint64_t last, uint64_t max_size,
                                                   const Visit& visit);

  static constexpr uint64_t kMostBegins = uint64_t{1} << 22;

  // Counts the zero bytes from `offset` on, at most `limit`.
  absl::StatusOr<uint64_t> CountZeros(uint64_t offset, uint64_t limit);

 private:
  // The possible begins of a search by their keys: chains of equal hashes, the latest begin first.
  // When the table is full, the oldest begins are overwritten.
  class Begins;

  // True if the budget allows a visit of a block of `size` bytes.
  bool MayVisit(uint64_t size) const;

  // Returns the bytes from `begin` to `end`, valid until the next call.
  absl::StatusOr<std::span<const uint8_t>> Bytes(uint64_t begin, uint64_t end);

  const Source& source_;
  const uint64_t end_;
  std::vector<uint8_t> buffer_;
  uint64_t buffer_offset_ = 0;
  uint64_t reached_ = 0;  // the end of the bytes searched so far
  // The cost of all visits that were not accepted, by the bit width of the block's size. Size
  // classes are separate: in a run of 0xff every eight bytes match, and these matches must not use
  // up the budget of large blocks.
  std::array<uint64_t, 33> in_vain_ = {};
};

}  // namespace cfile::internal
