// Reads a source that is not readable everywhere, such as a file on a failing disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cfile/file_info.h"
#include "cfile/io.h"

namespace cfile::internal {

// Returns the bytes of another source. A failed read is repeated page by page; unreadable pages
// become zeros and are not read again. Thread-safe. Memory: about 80 bytes for each run of
// unreadable pages, and one copy of each error (equal errors in succession share one).
class HoleFillingSource final : public Source {
 public:
  explicit HoleFillingSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  // Never fails.
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  void ReadMany(std::span<ReadRequest> requests) const override;
  bool HasLatency() const override { return source_->HasLatency(); }
  std::span<const uint8_t> InMemory() const override { return source_->InMemory(); }
  void WillRead(uint64_t offset, uint64_t size) const override { source_->WillRead(offset, size); }

  // Returns the error of a failed read of the bytes from `begin` to `end` for which zeros were
  // returned; OK if there was none.
  absl::Status ErrorIn(uint64_t begin, uint64_t end) const;
  absl::Status ErrorIn(const BlockPointer& block) const {
    return ErrorIn(block.offset, block.end());
  }

  static constexpr uint64_t kPageBytes = 4096;

 private:
  struct Hole {
    uint64_t end = 0;
    absl::Status error;
  };
  // Reads page by page, because a page that cannot be read becomes a hole.
  void ReadPages(uint64_t offset, std::span<uint8_t> out) const;
  void AddHole(uint64_t begin, uint64_t end, const absl::Status& error) const;

  const std::shared_ptr<const Source> source_;
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, Hole> holes_;  // by begin; holes do not touch; guarded by mutex_
  mutable absl::Status last_error_;         // guarded by mutex_
};

}  // namespace cfile::internal
