#include "cfile/parts/table/part_source.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace cfile::internal {
namespace {

class PartSource final : public Source {
 public:
  PartSource(std::shared_ptr<const Source> source,
             std::function<absl::Status(const absl::Status&)> error_of_missing)
      : source_(std::move(source)), error_of_missing_(std::move(error_of_missing)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  std::string identity() const override { return source_->identity(); }
  bool HasLatency() const override { return source_->HasLatency(); }
  bool ReadsInBackground() const override { return source_->ReadsInBackground(); }
  bool Forget(uint64_t offset, uint64_t size) const override {
    return source_->Forget(offset, size);
  }
  // A reader reads again what could not be read in advance, and then gets the converted error.
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override {
    return source_->BeginRead(offset, out);
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return Converted(source_->ReadAt(offset, out));
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    source_->ReadMany(requests);
    for (ReadRequest& request : requests) request.status = Converted(std::move(request.status));
  }

 private:
  absl::Status Converted(absl::Status status) const {
    return absl::IsNotFound(status) ? error_of_missing_(status) : status;
  }

  const std::shared_ptr<const Source> source_;
  const std::function<absl::Status(const absl::Status&)> error_of_missing_;
};

}  // namespace

std::shared_ptr<const Source> WithErrorOfMissing(
    std::shared_ptr<const Source> source,
    std::function<absl::Status(const absl::Status&)> error_of_missing) {
  if (!source->InMemory().empty() || !source->HasLatency()) return source;
  return std::make_shared<PartSource>(std::move(source), std::move(error_of_missing));
}

}  // namespace cfile::internal
