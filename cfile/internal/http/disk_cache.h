// Pieces of remote objects in files of a local directory, which several processes may share.
//
// A piece is in the file HH/REST, where HHREST is the SHA-256 of its key, in hexadecimal digits. The
// file has 8 bytes "cfcache1", the SHA-256 of the piece, and the piece. A file appears by renaming,
// so other processes see all of it or nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cfile::internal {

// Thread-safe. Errors of the local disk are not reported: a piece is then read from its server.
class DiskCache {
 public:
  // Makes the directory and its parents (mode 0700) if they do not exist.
  // kFailedPrecondition: the directory belongs to another user, or other users may use it.
  // kInvalidArgument: it cannot be made or read.
  static absl::StatusOr<std::shared_ptr<DiskCache>> Open(const std::string& directory,
                                                         uint64_t max_bytes);

  // True if the cache has a piece, which may be damaged.
  bool Has(std::string_view key) const;
  // Fills `out` with the piece. False: the cache does not have it, or has another size of it, or
  // its bytes are damaged; a damaged file is removed.
  bool Read(std::string_view key, std::span<uint8_t> out);
  // Adds a piece. Now and then deletes the pieces that were not used for the longest time.
  void Write(std::string_view key, std::span<const uint8_t> piece);

 private:
  DiskCache(std::string directory, uint64_t max_bytes)
      : directory_(std::move(directory)), max_bytes_(max_bytes) {}

  std::string PathOf(std::string_view key) const;
  // Deletes files until they need at most 7/8 of the limit, if they need more than the limit allows
  // now and after the pieces that this process may write before the next call.
  void Shrink();

  const std::string directory_;
  const uint64_t max_bytes_;
  std::mutex mutex_;  // held by the one thread that deletes
  std::atomic<uint64_t> written_bytes_ = 0;  // since Shrink was called
};

}  // namespace cfile::internal
