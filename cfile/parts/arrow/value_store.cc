#include "cfile/parts/arrow/value_store.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "cfile/parts/arrow/buffer_pool.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::PackedStrings;

// Stores strings for the Arrow types "u" and "z".
class PackedStore final : public ValueStore {
 public:
  size_t size() const override { return strings_.size(); }
  size_t size_bytes() const override { return strings_.data().size(); }

  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const std::span<const std::string_view> values = batch.As<std::string_view>().values;
    const size_t count = Fitting(values, strings_.room());
    if (count == 0) return TooLong(values[0].size());
    strings_.Append(values.first(count));
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
    AddStrings(OwnStrings(strings_), parts);
    strings_ = TakeStrings();
  }

 private:
  PackedStrings strings_ = TakeStrings();
};

}  // namespace

std::unique_ptr<ValueStore> NewPackedStore() { return std::make_unique<PackedStore>(); }

size_t Fitting(std::span<const std::string_view> values, size_t room) {
  size_t bytes = 0;
  size_t count = 0;
  for (; count < values.size(); ++count) {
    bytes += values[count].size();
    if (bytes > room) break;
  }
  return count;
}

void FinishBytes(encodings::ByteWriter& bytes, ArrayParts& parts) {
  if (bytes.empty()) return parts.AddBuffer(NoBytes(), nullptr);
  auto owner = OwnBytes(bytes);
  const void* const data = owner->data();
  parts.AddBuffer(data, std::move(owner));
}

void AddStrings(std::shared_ptr<const PackedStrings> strings, ArrayParts& parts) {
  parts.AddBuffer(strings->offsets().data(), nullptr);
  const void* const data = strings->data().empty() ? NoBytes() : strings->data().data();
  parts.AddBuffer(data, std::move(strings));
}

bool InMemoryOf(const std::shared_ptr<const Source>& source, const void* bytes) {
  if (source == nullptr) return false;
  const std::span<const uint8_t> memory = source->InMemory();
  return std::less_equal<const void*>()(memory.data(), bytes) &&
         std::less<const void*>()(bytes, memory.data() + memory.size());
}

absl::Status TooLong(size_t size) {
  return OutOfRange("a value of ", size, " bytes is too long for an Arrow array of 2^31 bytes");
}

const void* NoBytes() {
  alignas(64) static constexpr uint8_t kNone[64] = {};
  return kNone;
}

}  // namespace cfile::internal
