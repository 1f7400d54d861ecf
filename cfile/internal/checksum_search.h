// Finds blocks by their checksums where nothing tells where they begin and end: in a file whose
// index is lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/io.h"

namespace cfile::internal {

// Looks for places where CRC32C of the bytes from s to e stands at e. All pairs (s, e) are found in
// one pass, whose time grows with the bytes and not with the pairs:
//
// A checksum's register is a polynomial modulo the CRC's, a byte that follows multiplies it by x^8
// and adds the byte. Divided by x^(8 e), what the bytes from s to e leave in it is a difference
// U(e) - U(s), where U is that of all bytes from the search's begin on; the initial value, all
// ones, becomes J(s) = ones / x^(8 s). So the checksum fits if a number that s alone decides equals
// one that e alone decides, and a hash table of the former answers for each e:
//
//   J(s) + U(s) = J(e) + U(e + 4)
//
// Thread-compatible. Memory: 12 bytes a begin (see Find), and of a source that is not in memory the
// bytes of the largest block twice.
class ChecksumSearch {
 public:
  // `source` must outlive it. Nothing from the offset `end` on is looked at.
  ChecksumSearch(const Source& source, uint64_t end) : source_(source), end_(end) {}

  // What the callee says of a block whose checksum fits. By chance alone one pair of 2^32 does.
  struct Judgement {
    bool accepted = false;
    // What had to be looked at for it, decoded.
    uint64_t cost_bytes = 0;
  };
  // `bytes` are all of the block, the checksum included, valid during the call.
  using Visit =
      std::function<Judgement(const BlockPointer& pointer, std::span<const uint8_t> bytes)>;

  // Visits what fits and begins at `first` to `last`, ordered by its end, and returns the first
  // that `visit` accepts; nullopt if there is none. Of up to kMostBegins begins all blocks of up to
  // `max_size` bytes are found; where there are more, blocks of up to kMostBegins bytes. Where far
  // more is visited in vain, in all calls, than chance has it, which only bytes do that were made
  // for it, the rest of about that size is not visited. Errors: those of the source.
  absl::StatusOr<std::optional<BlockPointer>> Find(uint64_t first, uint64_t last, uint64_t max_size,
                                                   const Visit& visit);

  static constexpr uint64_t kMostBegins = uint64_t{1} << 22;

  // Zeros in front of `offset`, at most `limit`.
  absl::StatusOr<uint64_t> CountZeros(uint64_t offset, uint64_t limit);

 private:
  // The begins of a search by their keys: chains of equal hashes, the latest first. What is older
  // than the table has room for is overwritten.
  class Begins;

  // Whether a block of `size` bytes may still be visited.
  bool MayVisit(uint64_t size) const;

  // The bytes from `begin` to `end`; valid until the next call.
  absl::StatusOr<std::span<const uint8_t>> Bytes(uint64_t begin, uint64_t end);

  const Source& source_;
  const uint64_t end_;
  std::vector<uint8_t> buffer_;
  uint64_t buffer_offset_ = 0;
  uint64_t reached_ = 0;  // the last byte that was looked at
  // What was visited in vain cost, by the bit width of the size. Each size has its own: runs of
  // 0xff, of which each eight bytes fit, do not use up what large blocks need.
  std::array<uint64_t, 33> in_vain_ = {};
};

}  // namespace cfile::internal
