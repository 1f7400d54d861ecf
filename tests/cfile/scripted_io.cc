#include "tests/cfile/scripted_io.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "gtest/gtest.h"

namespace cfile::testing_support {

absl::Status MadeToFail(const IoCall& call, absl::StatusCode code) {
  static constexpr const char* kNames[] = {
      "ReadAt",    "BeginRead", "Wait", "WillRead", "Append", "Finish", "Open",
      "OpenWhole", "Create",    "List", "Delete",   "Read",   "Commit", "the answer to Commit"};
  return {code, absl::StrCat(kNames[call.kind], " ", call.name, ": made to fail")};
}

Script UnreadableByte(uint64_t byte) {
  return
      [byte](const IoCall& call) { return call.Reads(byte) ? MadeToFail(call) : absl::OkStatus(); };
}

absl::Status Fault::Call(const IoCall& call) {
  if (next_ == 0 || --next_ > 0) return absl::OkStatus();
  next_ = distance_;
  fired_ = true;
  ++failures_;
  return MadeToFail(call, code_);
}

absl::Status ScriptedSource::Ask(const IoCall& call) const {
  EXPECT_TRUE(call.offset <= size() && call.size <= size() - call.offset);
  return script_ ? script_(call) : absl::OkStatus();
}

absl::Status ScriptedSource::Read(const IoCall& call, std::span<uint8_t> out) const {
  ++reads_;
  bytes_ += out.size();
  largest_ = std::max<uint64_t>(largest_, out.size());
  const absl::Status status = Ask(call);
  if (status.ok()) return base_->ReadAt(call.offset, out);
  ++failures_;
  (void)base_->ReadAt(call.offset, out.first(out.size() / 2));
  return status;
}

absl::Status ScriptedSource::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  ++rounds_;
  uint64_t token = number;
  return Read({.kind = IoCall::kReadAt,
               .name = name(),
               .offset = offset,
               .size = out.size(),
               .is_first = !was_read_.exchange(true),
               .number = &token},
              out);
}

void ScriptedSource::ReadMany(std::span<ReadRequest> requests) const {
  ++rounds_;
  at_once_ = std::max<uint64_t>(at_once_, requests.size());
  const bool is_first = !was_read_.exchange(true);
  uint64_t token = number;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].status = Read({.kind = IoCall::kReadAt,
                               .name = name(),
                               .offset = requests[i].offset,
                               .size = requests[i].out.size(),
                               .index = i,
                               .count = requests.size(),
                               .is_first = is_first,
                               .number = &token},
                              requests[i].out);
  }
}

class ScriptedSource::Pending final : public PendingRead {
 public:
  Pending(const ScriptedSource& source, uint64_t offset, std::span<uint8_t> out)
      : source_(source), offset_(offset), out_(out), begun_(source.Ask(Call(IoCall::kBeginRead))) {}
  absl::Status Wait() override {
    return begun_.ok() ? source_.Read(Call(IoCall::kWait), out_) : begun_;
  }

 private:
  IoCall Call(IoCall::Kind kind) {
    return {.kind = kind,
            .name = source_.name(),
            .offset = offset_,
            .size = out_.size(),
            .number = &number_};
  }

  const ScriptedSource& source_;
  const uint64_t offset_;
  const std::span<uint8_t> out_;
  uint64_t number_ = 0;
  const absl::Status begun_;
};

std::unique_ptr<PendingRead> ScriptedSource::BeginRead(uint64_t offset,
                                                       std::span<uint8_t> out) const {
  return std::make_unique<Pending>(*this, offset, out);
}

std::span<const uint8_t> ScriptedSource::InMemory() const {
  return in_memory ? base_->InMemory() : std::span<const uint8_t>();
}

void ScriptedSource::WillRead(uint64_t offset, uint64_t size) const {
  (void)Ask({.kind = IoCall::kWillRead, .name = name(), .offset = offset, .size = size});
  base_->WillRead(offset, size);
}

absl::Status ScriptedSink::Ask(const IoCall& call) {
  EXPECT_FALSE(ended_) << "a call of " << name() << " after an error or after Finish";
  const absl::Status status = script_ ? script_(call) : absl::OkStatus();
  ended_ = !status.ok() || call.kind == IoCall::kFinish;
  return status;
}

absl::Status ScriptedSink::Append(std::span<const uint8_t> bytes) {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kAppend, .name = name(), .size = bytes.size()}));
  return base_ != nullptr ? base_->Append(bytes) : absl::OkStatus();
}

absl::Status ScriptedSink::Finish() {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kFinish, .name = name()}));
  return base_ != nullptr ? base_->Finish() : absl::OkStatus();
}

absl::Status ScriptedStorage::Ask(const IoCall& call) const {
  return *script_ ? (*script_)(call) : absl::OkStatus();
}

Script ScriptedStorage::FileScript() const {
  return [script = script_](const IoCall& call) {
    return *script ? (*script)(call) : absl::OkStatus();
  };
}

std::shared_ptr<ScriptedSource> ScriptedStorage::Wrap(std::shared_ptr<const Source> source) const {
  auto wrapped = std::make_shared<ScriptedSource>(std::move(source), FileScript());
  wrapped->reads_in_background = is_remote;
  return wrapped;
}

absl::StatusOr<std::shared_ptr<const Source>> ScriptedStorage::Open(const std::string& path) const {
  return std::move(OpenMany({&path, 1}).front());
}

std::vector<absl::StatusOr<std::shared_ptr<const Source>>> ScriptedStorage::OpenMany(
    std::span<const std::string> paths) const {
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
  for (size_t i = 0; i < paths.size(); ++i) {
    const absl::Status status =
        Ask({.kind = IoCall::kOpen, .name = paths[i], .index = i, .count = paths.size()});
    sources.push_back(status.ok() ? base_->Open(paths[i]) : status);
    if (sources[i].ok()) sources[i] = Wrap(*std::move(sources[i]));
  }
  return sources;
}

std::shared_ptr<const Source> ScriptedStorage::OpenWhole(const std::string& path,
                                                         uint64_t size_bytes) const {
  if (!opens_whole) return nullptr;
  auto source = base_->Open(path);
  if (!source.ok() || (*source)->size() != size_bytes) return nullptr;
  uint64_t number = 0;
  if (!Ask({.kind = IoCall::kOpenWhole, .name = path, .number = &number}).ok()) return nullptr;
  const auto wrapped = Wrap(*std::move(source));
  wrapped->number = number;
  return wrapped;
}

absl::StatusOr<std::unique_ptr<Sink>> ScriptedStorage::Create(const std::string& path) {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kCreate, .name = path}));
  CFILE_ASSIGN_OR_RETURN(auto sink, base_->Create(path));
  return std::make_unique<ScriptedSink>(std::move(sink), FileScript());
}

absl::StatusOr<std::vector<StorageEntry>> ScriptedStorage::List(const std::string& folder) const {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kList, .name = folder}));
  return base_->List(folder);
}

absl::Status ScriptedStorage::Delete(const std::string& path) {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kDelete, .name = path}));
  return base_->Delete(path);
}

absl::StatusOr<VersionedObject> ScriptedStorage::Read(const std::string& path,
                                                      uint64_t max_size_bytes) const {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kRead, .name = path}));
  return base_->Read(path, max_size_bytes);
}

absl::Status ScriptedStorage::Commit(const std::string& path,
                                     const std::optional<std::string>& expected_version,
                                     std::string_view bytes) {
  CFILE_RETURN_IF_ERROR(Ask({.kind = IoCall::kCommit, .name = path, .size = bytes.size()}));
  CFILE_RETURN_IF_ERROR(base_->Commit(path, expected_version, bytes));
  return Ask({.kind = IoCall::kCommitted, .name = path});
}

}  // namespace cfile::testing_support
