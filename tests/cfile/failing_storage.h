// A storage in which chosen calls fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "tests/cfile/forwarding_storage.h"

namespace cfile {

// Passes calls on to `base`, but the chosen calls fail.
// Sources read files and sinks write files. The calls of sources and sinks count, too.
// A commit counts as two calls. If the second call fails, the commit has taken place.
class FailingStorage final : public ForwardingStorage,
                             public std::enable_shared_from_this<FailingStorage> {
 public:
  using ForwardingStorage::ForwardingStorage;

  // From now on, every n-th call fails. If `n` is 0, no call fails.
  void FailEach(uint64_t n) { n_ = n, once_ = false, calls_ = 0; }
  // From now on, only the n-th call fails. The next call is number 1.
  void FailOnce(uint64_t n) { n_ = n, once_ = true, calls_ = 0; }
  uint64_t failures() const { return failures_; }

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    CFILE_RETURN_IF_ERROR(Call("open"));
    CFILE_ASSIGN_OR_RETURN(auto source, base()->Open(path));
    return std::make_shared<FailingSource>(shared_from_this(), std::move(source));
  }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(Call("create"));
    CFILE_ASSIGN_OR_RETURN(auto sink, base()->Create(path));
    return std::make_unique<FailingSink>(shared_from_this(), std::move(sink));
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    CFILE_RETURN_IF_ERROR(Call("list"));
    return base()->List(folder);
  }
  absl::Status Delete(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(Call("delete"));
    return base()->Delete(path);
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    CFILE_RETURN_IF_ERROR(Call("read"));
    return base()->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    CFILE_RETURN_IF_ERROR(Call("commit"));
    CFILE_RETURN_IF_ERROR(base()->Commit(path, expected_version, bytes));
    return Call("the answer to commit");
  }

 private:
  class FailingSource final : public Source {
   public:
    FailingSource(std::shared_ptr<const FailingStorage> storage, std::shared_ptr<const Source> base)
        : storage_(std::move(storage)), base_(std::move(base)) {}
    const std::string& name() const override { return base_->name(); }
    uint64_t size() const override { return base_->size(); }
    absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      CFILE_RETURN_IF_ERROR(storage_->Call("read at"));
      return base_->ReadAt(offset, out);
    }

   private:
    const std::shared_ptr<const FailingStorage> storage_;
    const std::shared_ptr<const Source> base_;
  };

  class FailingSink final : public Sink {
   public:
    FailingSink(std::shared_ptr<const FailingStorage> storage, std::unique_ptr<Sink> base)
        : storage_(std::move(storage)), base_(std::move(base)) {}
    const std::string& name() const override { return base_->name(); }
    absl::Status Append(std::span<const uint8_t> bytes) override {
      CFILE_RETURN_IF_ERROR(storage_->Call("append"));
      return base_->Append(bytes);
    }
    absl::Status Finish() override {
      CFILE_RETURN_IF_ERROR(storage_->Call("finish"));
      return base_->Finish();
    }

   private:
    const std::shared_ptr<const FailingStorage> storage_;
    const std::unique_ptr<Sink> base_;
  };

  absl::Status Call(const char* what) const {
    if (n_ == 0 || ++calls_ % n_ != 0 || (once_ && calls_ != n_)) return absl::OkStatus();
    ++failures_;
    return absl::UnavailableError(absl::StrCat("failing storage: ", what));
  }

  uint64_t n_ = 0;
  bool once_ = false;
  mutable uint64_t calls_ = 0;
  mutable uint64_t failures_ = 0;
};

}  // namespace cfile
