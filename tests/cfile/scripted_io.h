// The source, the sink and the storage of tests that count calls or make calls fail. They pass each
// call on to another object, but ask a script first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/storage.h"
#include "cfile/whole_files.h"

namespace cfile::testing_support {

// A call about which a script is asked.
struct IoCall {
  enum Kind {
    kReadAt,     // one range of Source::ReadAt or Source::ReadMany
    kBeginRead,  // Source::BeginRead. If the script returns an error, PendingRead::Wait returns it.
    kWait,       // PendingRead::Wait
    kWillRead,   // Source::WillRead. The result of the script is not used.
    kAppend,
    kFinish,
    kOpen,  // one file of Storage::Open or Storage::OpenMany
    kOpenWhole,
    kCreate,
    kList,
    kDelete,
    kRead,
    kCommit,
    kCommitted,  // the commit has taken place; an error of the script becomes the answer
  };
  // True if the call reads a range that holds the byte at `byte`.
  bool Reads(uint64_t byte) const {
    return (kind == kReadAt || kind == kWait) && offset <= byte && byte - offset < size;
  }

  Kind kind;
  const std::string& name;  // of the source or the sink; for calls of a storage, the path
  uint64_t offset = 0;      // of the range of a source
  uint64_t size = 0;        // of the range of a source, or of the bytes that are written
  // The call is number `index` of `count` that the user makes at once with ReadMany or OpenMany.
  size_t index = 0;
  size_t count = 1;
  bool is_first = false;  // this is the first ReadAt or ReadMany of the source
  // The script may store a number here. The number that it stores in kBeginRead is there in kWait,
  // and the number that it stores in kOpenWhole is there in each kReadAt. Null in other calls.
  uint64_t* number = nullptr;
};

// Is asked before the call. If the script returns an error, the call returns this error and is not
// passed on. A script of objects that several threads use must be thread-safe.
using Script = std::function<absl::Status(const IoCall&)>;

// Returns an error whose message is, for example, "ReadAt NAME: made to fail".
absl::Status MadeToFail(const IoCall& call, absl::StatusCode code = absl::StatusCode::kUnavailable);

// A script in which each read of the byte at `byte` fails.
Script UnreadableByte(uint64_t byte);

// Counts calls, and makes chosen calls fail. Each of the first three functions ends the choice
// before, and begins to count: the next call is number 1, and `n` is at least 1. Not thread-safe.
class Fault {
 public:
  explicit Fault(absl::StatusCode code = absl::StatusCode::kUnavailable) : code_(code) {}

  void FailOnce(uint64_t n) { Choose(n, 0); }
  // The n-th call and all later calls fail.
  void FailFrom(uint64_t n) { Choose(n, 1); }
  // Each n-th call fails.
  void FailEach(uint64_t n) { Choose(n, n); }
  // Lets all later calls succeed.
  void Disarm() { next_ = 0; }
  // Returns true if a call has failed since the last choice.
  bool fired() const { return fired_; }
  // The number of failed calls since the construction.
  uint64_t failures() const { return failures_; }

  absl::Status Call(const IoCall& call);
  // Returns a script that calls Call. This object must outlive the script.
  Script script() {
    return [this](const IoCall& call) { return Call(call); };
  }

 private:
  void Choose(uint64_t n, uint64_t distance) { next_ = n, distance_ = distance, fired_ = false; }

  const absl::StatusCode code_;
  uint64_t next_ = 0;      // the number of calls until one fails, including this one; 0: none
  uint64_t distance_ = 0;  // the same after a failed call
  bool fired_ = false;
  uint64_t failures_ = 0;
};

// Passes reads on to `base`. Without a script, this is a source that is not in memory, like an
// object store. A read that the script lets fail fills half of its range. Counts are thread-safe.
class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(std::shared_ptr<const Source> base, Script script = nullptr,
                          std::string identity = "")
      : base_(std::move(base)), script_(std::move(script)), identity_(std::move(identity)) {}

  // Set these before the source is used.
  bool in_memory = false;            // InMemory returns the bytes of `base`
  bool reads_in_background = false;  // BeginRead can be called
  uint64_t number = 0;               // IoCall::number

  const std::string& name() const override { return base_->name(); }
  uint64_t size() const override { return base_->size(); }
  std::string identity() const override { return identity_; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  void ReadMany(std::span<ReadRequest> requests) const override;
  bool ReadsInBackground() const override { return reads_in_background; }
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override;
  std::span<const uint8_t> InMemory() const override;
  void WillRead(uint64_t offset, uint64_t size) const override;

  // All counts begin at the last Reset, and include failed reads. A round is a call of ReadAt or
  // ReadMany. The time that a source with latency needs is proportional to the number of rounds.
  uint64_t rounds() const { return rounds_; }
  uint64_t reads() const { return reads_; }  // ranges of all calls
  // The largest number of ranges in one call of ReadMany; 0 if there was no such call.
  uint64_t at_once() const { return at_once_; }
  uint64_t bytes() const { return bytes_; }      // of all ranges
  uint64_t largest() const { return largest_; }  // bytes of the largest range
  uint64_t failures() const { return failures_; }
  void Reset() const { rounds_ = reads_ = at_once_ = bytes_ = largest_ = failures_ = 0; }

 private:
  class Pending;
  absl::Status Ask(const IoCall& call) const;
  absl::Status Read(const IoCall& call, std::span<uint8_t> out) const;

  const std::shared_ptr<const Source> base_;
  const Script script_;
  const std::string identity_;
  mutable std::atomic<bool> was_read_ = false;
  mutable std::atomic<uint64_t> rounds_ = 0, reads_ = 0, at_once_ = 0, bytes_ = 0, largest_ = 0,
                                failures_ = 0;
};

// Passes the bytes on to `base`, or discards them if `base` is null. EXPECTs that no call is made
// after an error or after Finish.
class ScriptedSink final : public Sink {
 public:
  explicit ScriptedSink(std::unique_ptr<Sink> base = nullptr, Script script = nullptr)
      : base_(std::move(base)), script_(std::move(script)) {}

  const std::string& name() const override { return base_ != nullptr ? base_->name() : name_; }
  absl::Status Append(std::span<const uint8_t> bytes) override;
  absl::Status Finish() override;

 private:
  absl::Status Ask(const IoCall& call);

  const std::unique_ptr<Sink> base_;
  const Script script_;
  const std::string name_ = "discarded";
  bool ended_ = false;
};

// Passes all calls on to `base`. Its files are ScriptedSources and ScriptedSinks; they use the
// script that the storage has at the time of the call.
class ScriptedStorage final : public Storage, public WholeFiles {
 public:
  explicit ScriptedStorage(std::shared_ptr<Storage> base = NewMemoryStorage(),
                           Script script = nullptr)
      : base_(std::move(base)), script_(std::make_shared<Script>(std::move(script))) {}

  // No other thread may use the storage or its files during this call.
  void set_script(Script script) { *script_ = std::move(script); }
  const std::shared_ptr<Storage>& base() const { return base_; }

  // Set these before the storage is used.
  bool is_remote = false;    // OpenMany opens all files at once, and files are read in background
  bool opens_whole = false;  // OpenWhole opens files

  const std::string& name() const override { return base_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override;
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override;
  bool OpensAtOnce() const override { return is_remote; }
  std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                          uint64_t size_bytes) const override;
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override;
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override;
  absl::Status Delete(const std::string& path) override;
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override;
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override;

 private:
  absl::Status Ask(const IoCall& call) const;
  Script FileScript() const;
  std::shared_ptr<ScriptedSource> Wrap(std::shared_ptr<const Source> source) const;

  const std::shared_ptr<Storage> base_;
  const std::shared_ptr<Script> script_;
};

}  // namespace cfile::testing_support
