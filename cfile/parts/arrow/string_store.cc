#include "cfile/parts/arrow/string_store.h"

#include <algorithm>
#include <utility>

#include "cfile/parts/arrow/buffer_pool.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {
namespace {

using encodings::PackedStrings;
using Strings = Batch<std::string_view>;

// Stores strings for the Arrow types "u" and "z".
class PackedStore final : public TypedStore<std::string_view> {
 public:
  size_t size() const override { return strings_.size(); }
  size_t size_bytes() const override { return strings_.data().size(); }

  absl::StatusOr<size_t> Append(const Strings& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const size_t count = Fitting(batch.values, strings_.room());
    if (count == 0) return TooLong(batch.values[0].size());
    strings_.Append(batch.values.first(count));
    return count;
  }

  PackedStrings* Packed(const Source& /*source*/) override { return &strings_; }

  void Truncate(size_t size) override {
    if (size >= strings_.size()) return;
    PackedStrings kept;
    const size_t bytes = strings_.offsets()[size];
    std::copy_n(strings_.offsets().data() + 1, size, kept.ReserveOffsets(size));
    std::copy_n(strings_.data().data(), bytes, kept.ReserveData(bytes));
    kept.Add(size, bytes);
    strings_ = std::move(kept);
  }

  void Finish(ArrayParts& parts) override {
    auto owner = OwnStrings(strings_);
    strings_ = TakeStrings();
    parts.AddBuffer(owner->offsets().data(), nullptr);
    const void* const data = owner->data().empty() ? NoBytes() : owner->data().data();
    parts.AddBuffer(data, std::move(owner));
  }

 private:
  PackedStrings strings_ = TakeStrings();
};

}  // namespace

size_t Fitting(std::span<const std::string_view> values, size_t room) {
  size_t bytes = 0;
  size_t count = 0;
  for (; count < values.size(); ++count) {
    bytes += values[count].size();
    if (bytes > room) break;
  }
  return count;
}

std::unique_ptr<TypedStore<std::string_view>> NewPackedStore() {
  return std::make_unique<PackedStore>();
}

}  // namespace cfile::internal
