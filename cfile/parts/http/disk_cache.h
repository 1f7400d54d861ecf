// Pieces of remote objects in files of a local directory, which several processes may share.
//
// A piece is in the file HH/REST, where HHREST is the SHA-256 of its key, in hexadecimal digits.
// The file cfile-cache marks the directory as a cache. Files with other names are left alone.
// The file has the 8 bytes "cfcache1", the SHA-256 of the piece, and the piece. Each file is
// written under a temporary name and then renamed, so other processes see the whole file or none.
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
  // kFailedPrecondition: the directory belongs to another user, or other users may use it; or it is
  // not marked as a cache, and has other files than those of a cache.
  // kInvalidArgument: the directory cannot be made or read.
  static absl::StatusOr<std::shared_ptr<DiskCache>> Open(const std::string& directory,
                                                         uint64_t max_bytes);

  // True if the cache has a piece, which may be damaged.
  bool Has(std::string_view key) const;
  // Fills `out` with the piece. Returns false if the cache does not have the piece, or if the file,
  // which is then removed, is damaged or has a piece of another size.
  bool Read(std::string_view key, std::span<uint8_t> out);
  void Remove(std::string_view key) const;
  // Adds a piece. Now and then deletes the pieces that were not used for the longest time.
  void Write(std::string_view key, std::span<const uint8_t> piece);

 private:
  DiskCache(std::string directory, uint64_t max_bytes)
      : directory_(std::move(directory)), max_bytes_(max_bytes) {}

  std::string PathOf(std::string_view key) const;
  // If the files have more than 15/16 of max_bytes_, deletes the least recently used files until
  // the others have at most 7/8 of max_bytes_. Write calls this after each sixteenth of max_bytes_.
  void Shrink();

  const std::string directory_;
  const uint64_t max_bytes_;
  std::mutex mutex_;                         // held by the one thread that deletes
  std::atomic<uint64_t> written_bytes_ = 0;  // since Shrink was called
};

}  // namespace cfile::internal
