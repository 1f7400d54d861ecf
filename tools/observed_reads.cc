#include "tools/location.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cfile::tools {
namespace {

class ObservedSource final : public Source {
 public:
  ObservedSource(std::shared_ptr<const Source> source, std::string path, ReadObserver observer)
      : source_(std::move(source)), path_(std::move(path)), observer_(std::move(observer)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  bool HasLatency() const override { return source_->HasLatency(); }
  std::string identity() const override { return source_->identity(); }
  bool Forget(uint64_t offset, uint64_t size) const override {
    return source_->Forget(offset, size);
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const auto begin = Clock::now();
    absl::Status status = source_->ReadAt(offset, out);
    observer_(path_, {offset, out.size(), Clock::now() - begin});
    return status;
  }

  void ReadMany(std::span<ReadRequest> requests) const override {
    const auto begin = Clock::now();
    source_->ReadMany(requests);
    const auto time = Clock::now() - begin;
    for (const ReadRequest& request : requests) {
      observer_(path_, {request.offset, request.out.size(), time});
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::shared_ptr<const Source> source_;
  const std::string path_;
  const ReadObserver observer_;
};

class ObservedStorage final : public Storage {
 public:
  ObservedStorage(std::shared_ptr<Storage> storage, ReadObserver observer)
      : storage_(std::move(storage)), observer_(std::move(observer)) {}

  const std::string& name() const override { return storage_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return Observe(storage_->Open(path), path);
  }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    auto sources = storage_->OpenMany(paths);
    for (size_t i = 0; i < sources.size(); ++i) {
      sources[i] = Observe(std::move(sources[i]), paths[i]);
    }
    return sources;
  }
  bool OpensAtOnce() const override { return storage_->OpensAtOnce(); }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    return storage_->Create(path);
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return storage_->List(folder);
  }
  absl::Status Delete(const std::string& path) override { return storage_->Delete(path); }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    return storage_->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    return storage_->Commit(path, expected_version, bytes);
  }

 private:
  absl::StatusOr<std::shared_ptr<const Source>> Observe(
      absl::StatusOr<std::shared_ptr<const Source>> source, const std::string& path) const {
    if (!source.ok()) return source;
    return std::make_shared<ObservedSource>(*std::move(source), path, observer_);
  }

  const std::shared_ptr<Storage> storage_;
  const ReadObserver observer_;
};

}  // namespace

std::shared_ptr<const Source> ObserveSource(std::shared_ptr<const Source> source,
                                            ReadObserver observer) {
  return std::make_shared<ObservedSource>(std::move(source), "", std::move(observer));
}

std::shared_ptr<Storage> ObserveStorage(std::shared_ptr<Storage> storage, ReadObserver observer) {
  return std::make_shared<ObservedStorage>(std::move(storage), std::move(observer));
}

}  // namespace cfile::tools
