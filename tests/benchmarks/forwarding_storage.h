// A storage that passes all calls on to another storage. Tests override the calls that they change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/storage.h"

namespace cfile {

class ForwardingStorage : public Storage {
 public:
  explicit ForwardingStorage(std::shared_ptr<Storage> base = NewMemoryStorage())
      : base_(std::move(base)) {}

  const std::shared_ptr<Storage>& base() const { return base_; }

  const std::string& name() const override { return base_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return base_->Open(path);
  }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    return base_->Create(path);
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return base_->List(folder);
  }
  absl::Status Delete(const std::string& path) override { return base_->Delete(path); }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    return base_->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    return base_->Commit(path, expected_version, bytes);
  }

 private:
  const std::shared_ptr<Storage> base_;
};

}  // namespace cfile
