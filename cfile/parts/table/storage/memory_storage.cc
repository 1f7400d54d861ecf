// Implements Storage for files in memory.
#include "cfile/storage.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

class MemoryStorage final : public Storage, public std::enable_shared_from_this<MemoryStorage> {
 public:
  explicit MemoryStorage(std::string name) : name_(std::move(name)) {}

  const std::string& name() const override { return name_; }

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    const std::lock_guard lock(mutex_);
    const auto file = files_.find(path);
    if (file == files_.end()) return Missing(path);
    return file->second.source;
  }

  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    return std::make_unique<FileSink>(shared_from_this(), path);
  }

  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    const std::string prefix = folder.empty() ? "" : absl::StrCat(folder, "/");
    const std::lock_guard lock(mutex_);
    std::vector<StorageEntry> entries;
    for (auto file = files_.lower_bound(prefix);
         file != files_.end() && file->first.starts_with(prefix); ++file) {
      entries.push_back({.path = file->first,
                         .size_bytes = file->second.source->size(),
                         .changed = file->second.changed,
                         .identity = absl::StrCat(file->second.version)});
    }
    return entries;
  }

  absl::Status Delete(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    files_.erase(path);
    const std::string prefix = absl::StrCat(path, "/");
    const auto begin = files_.lower_bound(prefix);
    files_.erase(begin, std::find_if(begin, files_.end(), [&](const auto& file) {
                   return !file.first.starts_with(prefix);
                 }));
    return absl::OkStatus();
  }

  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    const std::lock_guard lock(mutex_);
    const auto file = files_.find(path);
    if (file == files_.end()) return Missing(path);
    const std::span<const uint8_t> bytes = file->second.source->InMemory();
    if (bytes.size() > max_size_bytes) {
      return encodings::OutOfRange(
          name_, "/", path, ": ", bytes.size(), " bytes are ",
          encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes"));
    }
    return VersionedObject{.bytes = std::string(encodings::AsString(bytes)),
                           .version = absl::StrCat(file->second.version)};
  }

  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    const auto file = files_.find(path);
    const bool expected = file == files_.end()
                              ? !expected_version
                              : absl::StrCat(file->second.version) == expected_version;
    if (!expected) {
      return absl::AbortedError(absl::StrCat(name_, "/", path, ": another writer has replaced it"));
    }
    const std::span<const uint8_t> copied = encodings::AsBytes(bytes);
    Put(path, std::vector<uint8_t>(copied.begin(), copied.end()));
    return absl::OkStatus();
  }

 private:
  struct File {
    std::shared_ptr<const Source> source;
    std::chrono::system_clock::time_point changed;
    uint64_t version = 0;
  };

  class FileSink final : public Sink {
   public:
    FileSink(std::shared_ptr<MemoryStorage> storage, std::string path)
        : storage_(std::move(storage)),
          path_(std::move(path)),
          name_(absl::StrCat(storage_->name_, "/", path_)) {}

    const std::string& name() const override { return name_; }
    absl::Status Append(std::span<const uint8_t> bytes) override {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      return absl::OkStatus();
    }
    absl::Status Finish() override {
      const std::lock_guard lock(storage_->mutex_);
      storage_->Put(path_, std::move(bytes_));
      return absl::OkStatus();
    }

   private:
    const std::shared_ptr<MemoryStorage> storage_;
    const std::string path_;
    const std::string name_;
    std::vector<uint8_t> bytes_;
  };

  // Precondition: mutex_ is locked.
  void Put(const std::string& path, std::vector<uint8_t> bytes) {
    files_[path] = {.source = NewMemorySource(std::move(bytes), absl::StrCat(name_, "/", path)),
                    .changed = std::chrono::system_clock::now(),
                    .version = ++last_version_};
  }

  absl::Status Missing(const std::string& path) const {
    return absl::NotFoundError(absl::StrCat(name_, "/", path, ": there is no such file"));
  }

  const std::string name_;
  mutable std::mutex mutex_;  // guards the following
  std::map<std::string, File> files_;
  uint64_t last_version_ = 0;
};

}  // namespace

std::shared_ptr<Storage> NewMemoryStorage(std::string name) {
  return std::make_shared<MemoryStorage>(std::move(name));
}

}  // namespace cfile
