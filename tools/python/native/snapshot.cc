#include "tools/python/native/snapshot.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/whole_files.h"

namespace cfile_python {
namespace {

constexpr char kTableFile[] = "table.cft";

class SnapshotStorage final : public cfile::Storage, public cfile::WholeFiles {
 public:
  SnapshotStorage(std::shared_ptr<Storage> files, std::string snapshot)
      : files_(std::move(files)), snapshot_(std::move(snapshot)) {}

  const std::string& name() const override { return files_->name(); }
  absl::StatusOr<std::shared_ptr<const cfile::Source>> Open(
      const std::string& path) const override {
    return files_->Open(path);
  }
  std::vector<absl::StatusOr<std::shared_ptr<const cfile::Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    return files_->OpenMany(paths);
  }
  std::shared_ptr<const cfile::Source> OpenWhole(const std::string& path,
                                                 uint64_t size_bytes) const override {
    const auto* files = dynamic_cast<const cfile::WholeFiles*>(files_.get());
    return files == nullptr ? nullptr : files->OpenWhole(path, size_bytes);
  }
  bool OpensAtOnce() const override { return files_->OpensAtOnce(); }
  absl::StatusOr<std::unique_ptr<cfile::Sink>> Create(const std::string& path) override {
    return ReadOnly(path);
  }
  absl::StatusOr<std::vector<cfile::StorageEntry>> List(const std::string& folder) const override {
    return files_->List(folder);
  }
  absl::Status Delete(const std::string& path) override { return ReadOnly(path); }
  absl::StatusOr<cfile::VersionedObject> Read(const std::string& path,
                                              uint64_t max_size_bytes) const override {
    if (path != kTableFile || is_read_.exchange(true)) return files_->Read(path, max_size_bytes);
    if (snapshot_.size() > max_size_bytes) {
      return absl::OutOfRangeError(absl::StrCat(name(), "/", path, ": ", snapshot_.size(),
                                                " bytes are more than max_metadata_size_bytes"));
    }
    return cfile::VersionedObject{.bytes = snapshot_, .version = "snapshot"};
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>&,
                      std::string_view) override {
    return ReadOnly(path);
  }

 private:
  absl::Status ReadOnly(const std::string& path) const {
    return absl::PermissionDeniedError(
        absl::StrCat(name(), "/", path, ": a snapshot of a table cannot be changed"));
  }

  const std::shared_ptr<Storage> files_;
  const std::string snapshot_;
  mutable std::atomic<bool> is_read_ = false;
};

}  // namespace

absl::StatusOr<std::string> ReadSnapshot(const cfile::Storage& storage) {
  auto object = storage.Read(kTableFile, cfile::ReaderOptions().max_metadata_size_bytes);
  if (!object.ok()) return object.status();
  return std::move(object->bytes);
}

std::shared_ptr<cfile::Storage> NewSnapshotStorage(std::shared_ptr<cfile::Storage> storage,
                                                   std::string snapshot) {
  return std::make_shared<SnapshotStorage>(std::move(storage), std::move(snapshot));
}

}  // namespace cfile_python
