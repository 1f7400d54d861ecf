// Where the files of a table are: in a directory of the local file system, in memory, or in a
// storage of the user, such as an object store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile {

// A file of a storage.
struct StorageEntry {
  // "NAME" or "FOLDER/NAME". A storage that has real folders also lists empty ones, as "FOLDER/".
  std::string path;
  uint64_t size_bytes = 0;
  std::chrono::system_clock::time_point changed;  // when the file was created or last changed
  // A file that replaces the file at this path has another identity. Empty: not known.
  std::string identity;
};

// A small object and its version. Two versions of an object never have the same `version`.
struct VersionedObject {
  std::string bytes;
  std::string version;
};

// The files of one table. Paths are "NAME" or "FOLDER/NAME". The table chooses the names, and uses
// only letters, digits, '-', '_' and '.' in a name. A folder exists if it holds a file; the table
// does not create folders.
//
// A table writes each file once, and then only reads or deletes it. Only one small object,
// table.cft, changes: Commit replaces it. So a storage needs no locks and no renaming, and only
// Commit must be atomic.
//
// Implementations must be thread-safe. The calls of one table may come from several processes.
// Return kNotFound only if something is missing, kAborted only from Commit, kOutOfRange only from
// Read, kDataLoss only if bytes are lost for ever, and kUnimplemented never. Messages name the
// file.
class CFILE_EXPORT Storage {
 public:
  virtual ~Storage() = default;

  // A name for errors: the path of the directory, a URL, ...
  virtual const std::string& name() const = 0;

  // Opens a complete file. kNotFound: there is no such file. If the file is deleted while the
  // source is open, the source stays readable, or its reads return kNotFound.
  virtual absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const = 0;

  // Returns the results of Open in the order of `paths`. This implementation opens one file after
  // the other.
  virtual std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const {
    std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
    for (const std::string& path : paths) sources.push_back(Open(path));
    return sources;
  }

  // True if OpenMany takes about as long as Open. Scans of a table then open files early and
  // together, also files that they may turn out not to need.
  virtual bool OpensAtOnce() const { return false; }

  // Begins a file. It is visible after Sink::Finish, and durable when all begun files of its folder
  // are finished, or after Commit. Precondition: there was never a file at this path.
  virtual absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) = 0;

  // Lists the files in `folder`, or all files if `folder` is empty, in any order. The list is empty
  // if the folder does not exist. It may contain incomplete files: IsTemporaryFileName is true for
  // their names.
  virtual absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const = 0;

  // Durably deletes the file, or the folder with all its files, at `path`. OK if nothing is there.
  virtual absl::Status Delete(const std::string& path) = 0;

  // Reads a small object and its version. kNotFound: there is no such object.
  // kOutOfRange: the object has more than `max_size_bytes` bytes.
  virtual absl::StatusOr<VersionedObject> Read(const std::string& path,
                                               uint64_t max_size_bytes) const = 0;

  // Replaces a small object in one step: other callers see the old bytes or the new bytes.
  // `expected_version`: the version that the object must have before the call; nullopt: there must
  // be no object at `path`. If Commit succeeds, the new object and all files that were finished
  // before are durable. kAborted: the object has another version, and this call has not changed the
  // object. kInternal: this call has replaced the object, but the object may not be durable. After
  // any other error, this call may have replaced the object or not, but must not replace it after
  // it has returned.
  virtual absl::Status Commit(const std::string& path,
                              const std::optional<std::string>& expected_version,
                              std::string_view bytes) = 0;
};

// The files in the directory at `directory`, which is made with the first file, and in its folders.
// The parent directory must exist. Delete removes the directory if it is empty and the storage made
// it. `access`: how Open reads files.
//
// Commit compares the version and replaces the object by renaming. Meanwhile it holds a lock
// (flock) on a file beside the object, with a name that ends with .lock, and removes the file at
// the end. A lock file that a killed process leaves does no harm. kFailedPrecondition: the file
// system has no such locks, and Commit has changed nothing.
CFILE_EXPORT std::shared_ptr<Storage> NewLocalStorage(
    std::string directory, ReaderOptions::Access access = ReaderOptions::Access::kMap);

// Files in memory, which exist as long as the storage; open sources keep their bytes.
CFILE_EXPORT std::shared_ptr<Storage> NewMemoryStorage(std::string name = "memory");

// The place of a table: the path of a local directory, or a storage, which is not null.
class TableLocation {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  template <typename D>
  requires std::is_convertible_v<D, std::string> TableLocation(D&& directory)
      : directory_(std::forward<D>(directory)) {}
  template <typename S>
  requires std::is_base_of_v<Storage, S> TableLocation(std::shared_ptr<S> storage)
      : storage_(std::move(storage)) {
    CFILE_ASSERT(storage_ != nullptr);
  }
  // NOLINTEND(google-explicit-constructor)

  // For a path, returns a local storage that reads files with `access`.
  std::shared_ptr<Storage> storage(
      ReaderOptions::Access access = ReaderOptions::Access::kPread) const {
    return storage_ != nullptr ? storage_ : NewLocalStorage(directory_, access);
  }

 private:
  std::string directory_;
  std::shared_ptr<Storage> storage_;
};

}  // namespace cfile
