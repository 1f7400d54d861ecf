// Sources and sinks: the library reads the bytes of files through a Source and writes them through
// a Sink. To use other storage than the file system, implement these two classes, or, for tables,
// Storage (cfile/storage.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "encodings/core/export.h"

namespace cfile {

// One of the ranges that Source::ReadMany reads.
struct ReadRequest {
  uint64_t offset = 0;     // of the first byte in the source
  std::span<uint8_t> out;  // receives the bytes; memory of the caller
  absl::Status status;     // the result
};

// A read that Source::BeginRead has begun. Calls are made one at a time, but may come from
// different threads.
class CFILE_EXPORT PendingRead {
 public:
  // Ends the read. Returns only when the read can no longer write to memory of the caller.
  virtual ~PendingRead() = default;
  // Waits for the end of the read. Returns what Source::ReadAt returns. Called at most once.
  virtual absl::Status Wait() = 0;
};

// Immutable bytes with random access. Implementations must be thread-safe. Readers share a Source;
// the last reader destroys the Source, in any thread.
class CFILE_EXPORT Source {
 public:
  virtual ~Source() = default;

  // A name for errors: a path, a URL, ...
  virtual const std::string& name() const = 0;

  // The number of bytes. Must not change.
  virtual uint64_t size() const = 0;

  // Fills `out` with the bytes that begin at `offset`. Returns an error unless all of these bytes
  // could be read. The error must not be kOutOfRange or kUnimplemented, because readers take
  // kOutOfRange for an exceeded limit and kUnimplemented for an unknown feature. kDataLoss means
  // that the bytes are lost for ever. Precondition: offset + out.size() <= size().
  virtual absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const = 0;

  // Reads several ranges and sets the status of each range: OK if `out` was filled, otherwise an
  // error as from ReadAt. The error of one range does not affect the other ranges. Returns only
  // when no read can write to memory of the caller any longer.
  //
  // This implementation calls ReadAt for one range after the other. A source with latency should
  // override this function and read all ranges at the same time. The library has no threads, so it
  // has no other way to have several requests in flight.
  //
  // Readers pass at most ReaderOptions::max_requests_in_flight ranges, which do not overlap.
  // Preconditions: those of ReadAt for each range; each status is OK before the call.
  virtual void ReadMany(std::span<ReadRequest> requests) const;

  // False if ReadAt returns so soon that a reader gains nothing from several reads at the same
  // time. Cursors then read one range after the other.
  virtual bool HasLatency() const { return true; }

  // True if BeginRead can be called. Readers then call it instead of ReadMany where they read in
  // advance, and decode the first ranges while the next ranges are under way.
  virtual bool ReadsInBackground() const { return false; }

  // Begins to read a range, and returns at once. `out` is filled when PendingRead::Wait has
  // returned OK. `out` and this source must stay valid until the result is destroyed.
  // At most ReaderOptions::max_requests_in_flight reads are pending for each cursor, for each
  // condition of a table scan, for all columns of a scan together (but at least one read for each
  // column), and for the parts that a scan reads next. The source may delay some of these reads.
  // Preconditions: ReadsInBackground(); those of ReadAt.
  virtual std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const;

  // A name for these bytes that is valid in the whole process, or "" if there is none. Sources with
  // equal identities must have equal bytes: a block cache recognizes a file that is opened again.
  // Include everything that distinguishes two versions of an object, for example the URL and the
  // version or ETag. For local files, the identity is the device, the inode, the size and the time
  // of the last change in nanoseconds. It is "" if the file was changed less than two seconds
  // before it was opened, because a second change could then leave the same time.
  virtual std::string identity() const { return {}; }

  // Returns all bytes if they stay in memory for the lifetime of this object; the reader then
  // points into these bytes, and calls ReadAt only after Forget. Otherwise returns an empty span.
  virtual std::span<const uint8_t> InMemory() const { return {}; }

  // Readers call this if the checksum of these bytes is wrong. The source drops its copies of them,
  // for example in a cache on disk. Returns true if the source may have other bytes when they are
  // read again; then the reader reads them once more. Precondition: offset + size <= size().
  virtual bool Forget(uint64_t /*offset*/, uint64_t /*size*/) const { return false; }

  // A hint: a seek will soon read these bytes, but perhaps no bytes before or after them, so the
  // source may fetch them in the background. Called only if InMemory is not empty. Must return
  // quickly if the bytes are in memory already. Precondition: offset + size <= size().
  virtual void WillRead(uint64_t /*offset*/, uint64_t /*size*/) const {}
};

// Maps the file at `path` into memory: reads copy nothing and use the system's page cache. If
// another program truncates the file while it is mapped, a read of the missing bytes kills this
// process (SIGBUS). Use OpenPreadSource for files that may shrink.
CFILE_EXPORT absl::StatusOr<std::shared_ptr<const Source>> OpenMappedSource(
    const std::string& path);

// Reads the file at `path` with pread. A disk error or a truncated file gives an error status.
CFILE_EXPORT absl::StatusOr<std::shared_ptr<const Source>> OpenPreadSource(const std::string& path);

// Return a source with the contents `bytes`. NewMemoryViewSource does not copy the bytes, so they
// must outlive the source.
CFILE_EXPORT std::shared_ptr<const Source> NewMemorySource(std::vector<uint8_t> bytes,
                                                           std::string name = "memory");
CFILE_EXPORT std::shared_ptr<const Source> NewMemoryViewSource(std::span<const uint8_t> bytes,
                                                               std::string name = "memory");

// The destination of bytes that are written once, from first to last. Calls on one sink are made
// one at a time, but may come from different threads. A table has one sink for each column;
// different sinks may be called at the same time.
class CFILE_EXPORT Sink {
 public:
  // If Finish was not called, the destructor must leave none of the appended bytes visible.
  virtual ~Sink() = default;

  virtual const std::string& name() const = 0;

  // Appends `bytes`. After an error only the destructor is called.
  virtual absl::Status Append(std::span<const uint8_t> bytes) = 0;

  // Makes all appended bytes durable and visible. Called at most once, last.
  virtual absl::Status Finish() = 0;
};

// What becomes of a file that is already where a new file is written.
enum class ExistingFile : uint8_t {
  kReplaced,
  kKept  // Finish returns kAlreadyExists, even if the other file has just appeared
};

// A sink for the file at `path`. It writes to a temporary file in the same folder. Finish syncs the
// temporary file, renames it to `path` (see ExistingFile), and syncs the folder. If only the last
// sync fails, Finish returns kInternal: the new file is then at `path`, but may not be durable.
// Without Finish the destructor removes the temporary file and leaves `path` unchanged.
// If `path` is a symbolic link, Finish replaces the link and does not change the link's target.
// kFailedPrecondition, also from Finish: `path` is a folder, a FIFO, a socket or a device, or a
// link to one of these; it is not replaced. kInvalidArgument: `path` does not end with a file name.
CFILE_EXPORT absl::StatusOr<std::unique_ptr<Sink>> NewFileSink(
    const std::string& path, ExistingFile existing = ExistingFile::kReplaced);

// A sink that appends to `*bytes`, which must outlive the sink.
CFILE_EXPORT std::unique_ptr<Sink> NewMemorySink(std::vector<uint8_t>* bytes,
                                                 std::string name = "memory");

// True if `name`, a file name without a folder, is that of a temporary file of NewFileSink. If a
// process is killed, such files may remain. The name is `.NAME.PROCESS-NUMBER.cfile-tmp`: NAME is
// the name of the file to write (its first 200 bytes), PROCESS is the id of the process, and NUMBER
// counts the temporary files of this process.
CFILE_EXPORT bool IsTemporaryFileName(const std::string& name);

}  // namespace cfile
