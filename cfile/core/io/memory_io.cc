// Sources and Sinks in memory.
#include "cfile/io.h"

#include <cstring>
#include <utility>

#include "encodings/core/assert.h"

namespace cfile {
namespace {

class MemorySource final : public Source {
 public:
  MemorySource(std::vector<uint8_t> bytes, std::string name)
      : owned_(std::move(bytes)), bytes_(owned_), name_(std::move(name)) {}
  MemorySource(std::span<const uint8_t> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  std::span<const uint8_t> InMemory() const override { return bytes_; }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    CFILE_ASSERT(offset <= size() && out.size() <= size() - offset);
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return absl::OkStatus();
  }

 private:
  const std::vector<uint8_t> owned_;
  const std::span<const uint8_t> bytes_;
  const std::string name_;
};

class MemorySink final : public Sink {
 public:
  MemorySink(std::vector<uint8_t>* bytes, std::string name)
      : bytes_(bytes), size_before_(bytes->size()), name_(std::move(name)) {}
  ~MemorySink() override {
    if (!finished_) bytes_->resize(size_before_);
  }

  const std::string& name() const override { return name_; }

  absl::Status Append(std::span<const uint8_t> bytes) override {
    bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    finished_ = true;
    return absl::OkStatus();
  }

 private:
  std::vector<uint8_t>* const bytes_;
  const size_t size_before_;
  const std::string name_;
  bool finished_ = false;
};

}  // namespace

std::shared_ptr<const Source> NewMemorySource(std::vector<uint8_t> bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

std::shared_ptr<const Source> NewMemoryViewSource(std::span<const uint8_t> bytes,
                                                  std::string name) {
  return std::make_shared<MemorySource>(bytes, std::move(name));
}

std::unique_ptr<Sink> NewMemorySink(std::vector<uint8_t>* bytes, std::string name) {
  return std::make_unique<MemorySink>(bytes, std::move(name));
}

}  // namespace cfile
