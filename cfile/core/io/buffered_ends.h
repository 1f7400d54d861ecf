// A source that keeps both ends of a file in memory, or the whole file. Usually all parts except
// the data blocks lie in these ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::internal {

// How many bytes are kept from the front of the file (header) and from its end (footer, index roots
// and dictionary).
inline constexpr size_t kBufferedHeadBytes = 4 * 1024;
inline constexpr size_t kBufferedTailBytes = 60 * 1024;

// Counts the requests to the source and the bytes that were read from it. Thread-safe.
class BufferedEnds final : public Source {
 public:
  // A range of a source's bytes, copied into memory.
  struct Piece {
    uint64_t offset = 0;
    std::vector<uint8_t> bytes;
    // Copies the bytes of the source from offset `from` on to `out`.
    // Returns false, and copies nothing, if the piece lacks some of these bytes.
    bool Copy(uint64_t from, std::span<uint8_t> out) const;
  };

  // `is_whole`: true if InMemory returns the bytes of `tail`, which has the whole file.
  BufferedEnds(std::shared_ptr<const Source> source, Piece head, Piece tail, bool is_whole);

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  std::string identity() const override { return source_->identity(); }
  bool HasLatency() const override { return source_->HasLatency(); }
  bool ReadsInBackground() const override { return source_->ReadsInBackground(); }
  bool Forget(uint64_t offset, uint64_t size) const override;
  std::span<const uint8_t> InMemory() const override { return whole_; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override;
  void ReadMany(std::span<ReadRequest> requests) const override;

  size_t memory_usage_bytes() const { return head_.bytes.capacity() + tail_.bytes.capacity(); }
  // The number of ranges that were read from the source, and the bytes in these ranges.
  // Failed requests count, too.
  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  bool Copy(uint64_t offset, std::span<uint8_t> out) const {
    return !forgotten_ && (tail_.Copy(offset, out) || head_.Copy(offset, out));
  }
  void Count(uint64_t size_bytes) const;

  const std::shared_ptr<const Source> source_;
  const Piece head_;
  const Piece tail_;
  const std::span<const uint8_t> whole_;         // the bytes of tail_ if is_whole was true
  mutable std::atomic<bool> forgotten_ = false;  // head_ and tail_ are no longer used
  mutable std::atomic<uint64_t> requests_ = 0;
  mutable std::atomic<uint64_t> bytes_read_ = 0;
};

// The pieces of a source of `size_bytes` bytes that BufferEnds keeps, before they are read.
struct UnreadEnds {
  UnreadEnds(uint64_t size_bytes, bool whole);

  BufferedEnds::Piece head;  // without bytes if `tail` has the whole source
  BufferedEnds::Piece tail;
};

// Wraps `source`, and reads its first and last bytes: both with one ReadMany, or one after the
// other if `max_requests` is below 2. A small file, or any file if `whole` is true, is read with
// one ReadAt; with `whole`, the result has it in memory (Source::InMemory). Returns errors of
// `source`.
absl::StatusOr<std::shared_ptr<const BufferedEnds>> BufferEnds(std::shared_ptr<const Source> source,
                                                               size_t max_requests,
                                                               bool whole = false);

}  // namespace cfile::internal
