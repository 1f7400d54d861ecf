// Where bytes come from and go to. Nothing else in the library touches a file descriptor; implement
// these two for other storage.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile {

// Immutable bytes that are read at any offset. Implementations must allow all calls from many
// threads at once. The last reader that has it destroys it, in whatever thread.
class Source {
 public:
  virtual ~Source() = default;

  // For error messages: a path, a URL, ...
  virtual const std::string& name() const = 0;

  // Bytes in all. Does not change.
  virtual uint64_t size() const = 0;

  // Fills `out` with the bytes from `offset` on. Precondition: offset + out.size() <= size(). An
  // error if not all could be read.
  virtual absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const = 0;

  // All bytes, if they lie in memory for as long as this object lives; then the reader points into
  // them instead of calling ReadAt. Empty otherwise.
  virtual std::span<const uint8_t> InMemory() const { return {}; }

  // Called before a scan comes to these bytes, if InMemory is not empty: they may be fetched
  // meanwhile. Takes no time worth mentioning where they are there. Precondition: offset + size <=
  // size().
  virtual void WillRead(uint64_t /*offset*/, uint64_t /*size*/) const {}
};

// Maps the file at `path`: no copies, the page cache is shared. A mapped file that someone
// truncates while it is read kills the process with SIGBUS; where files may shrink, use
// OpenPreadSource.
absl::StatusOr<std::shared_ptr<const Source>> OpenMappedSource(const std::string& path);

// Reads the file at `path` with pread: an error of the disk or a truncated file gives a Status.
absl::StatusOr<std::shared_ptr<const Source>> OpenPreadSource(const std::string& path);

// `bytes` as a source. The view form does not copy: the bytes must outlive the source.
std::shared_ptr<const Source> NewMemorySource(std::vector<uint8_t> bytes,
                                              std::string name = "memory");
std::shared_ptr<const Source> NewMemoryViewSource(std::span<const uint8_t> bytes,
                                                  std::string name = "memory");

// Bytes that are written once, from front to back. One thread at a time, not always the same one; a
// table's columns have a sink each, which may be called at once.
class Sink {
 public:
  // Without Finish nothing of what was appended must remain visible.
  virtual ~Sink() = default;

  virtual const std::string& name() const = 0;

  // After an error no further call but the destructor is made.
  virtual absl::Status Append(std::span<const uint8_t> bytes) = 0;

  // Makes all appended bytes durable and visible. Called at most once, last.
  virtual absl::Status Finish() = 0;
};

// Writes to a temporary file beside `path`; Finish syncs it, renames it to `path` (replacing a file
// there) and syncs the folder; where only that last step fails, its error is returned and the new
// file is in place, durable or not. The destructor without Finish removes the temporary file, and
// whatever lay at `path` is untouched. A symbolic link at `path` is replaced, and the file that it
// leads to stays as it is. kFailedPrecondition, also from Finish: at `path` is a folder, a FIFO, a
// socket or a device, or a link to one; it stays.
absl::StatusOr<std::unique_ptr<Sink>> NewFileSink(const std::string& path);

// Appends to `*bytes`, which must outlive the sink.
std::unique_ptr<Sink> NewMemorySink(std::vector<uint8_t>* bytes, std::string name = "memory");

// True if `name`, inside its folder, is that of a temporary file of NewFileSink: what a killed
// process may leave behind.
bool IsTemporaryFileName(const std::string& name);

}  // namespace cfile
