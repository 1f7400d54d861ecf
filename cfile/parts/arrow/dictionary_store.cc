#include "cfile/parts/arrow/value_store.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/arrow/buffer_pool.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::PackedStrings;

// Distinct strings, numbered in the order in which they were added.
class LocalDictionary {
 public:
  const PackedStrings& strings() const { return strings_; }

  // Returns the number of `value`, or nullopt if there is no room for `value`.
  std::optional<uint32_t> Find(std::string_view value) {
    if (2 * (strings_.size() + 1) > slots_.size()) Grow();
    size_t slot = std::hash<std::string_view>()(value) & (slots_.size() - 1);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      if (strings_[slots_[slot]] == value) return slots_[slot];
    }
    if (value.size() > strings_.room()) return std::nullopt;
    strings_.Append({&value, 1});
    slots_[slot] = static_cast<uint32_t>(strings_.size() - 1);
    return slots_[slot];
  }

  PackedStrings Finish() {
    slots_.clear();
    return std::exchange(strings_, PackedStrings());
  }

 private:
  void Grow() {
    std::vector<uint32_t> slots(std::max<size_t>(64, 2 * slots_.size()), kFree);
    for (size_t i = 0; i < strings_.size(); ++i) {
      size_t slot = std::hash<std::string_view>()(strings_[i]) & (slots.size() - 1);
      while (slots[slot] != kFree) slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = static_cast<uint32_t>(i);
    }
    slots_ = std::move(slots);
  }

  static constexpr uint32_t kFree = UINT32_MAX;

  PackedStrings strings_;
  std::vector<uint32_t> slots_;  // strings' numbers by hash, or kFree; 2^n slots
};

// The strings of a file's dictionary.
struct FileStrings {
  std::shared_ptr<const encodings::Dictionary> dictionary;  // has the bytes of the strings
  std::span<const std::string_view> values;
  ByteWriter offsets;  // as in an Arrow array; the bytes begin at values[0]
};

// Stores strings as codes: indexes into the file's dictionary if all rows of a batch come from
// coded blocks of one file, otherwise into local_.
class DictionaryStore final : public ValueStore {
 public:
  explicit DictionaryStore(size_t capacity) : capacity_(capacity) {}

  size_t size() const override { return codes_.size() / sizeof(uint32_t); }
  size_t size_bytes() const override { return codes_.size() + local_.strings().data().size(); }
  // Strings of local_ stay, even if no code uses them any longer.
  void Truncate(size_t size) override {
    codes_.Truncate(std::min(codes_.size(), size * sizeof(uint32_t)));
  }

  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    CFILE_RETURN_IF_ERROR(UseLocal());
    return AddLocal(batch.As<std::string_view>(),
                    [](const std::string_view& value) { return value; });
  }

  uint32_t* RoomForCodes(size_t count) override {
    if (codes_.capacity() == 0) codes_ = TakeBytes(capacity_ * sizeof(uint32_t));
    codes_.ReserveMore(count * sizeof(uint32_t));
    return Codes() + size();
  }
  absl::StatusOr<size_t> AppendCodes(
      const Batch<uint32_t>& codes, std::span<const std::string_view> values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) override {
    if (codes_.empty()) Use(values, dictionary);
    if (shared_ != nullptr && dictionary == shared_->dictionary) {
      codes_.Extend(codes.values.size_bytes());
      return codes.size();
    }
    CFILE_RETURN_IF_ERROR(UseLocal());
    return AddLocal(codes, [&](uint32_t code) { return values[code]; });
  }

  void Finish(ArrayParts& parts) override {
    FinishBytes(codes_, parts);
    ArrayParts dictionary;
    dictionary.buffers.push_back(nullptr);
    if (shared_ != nullptr) {
      dictionary.length = static_cast<int64_t>(shared_->values.size());
      dictionary.AddBuffer(shared_->offsets.data(), shared_);
      dictionary.AddBuffer(shared_->values[0].data(), nullptr);
    } else {
      auto local = std::make_shared<PackedStrings>(local_.Finish());
      dictionary.length = static_cast<int64_t>(local->size());
      AddStrings(std::move(local), dictionary);
    }
    parts.dictionary = MakeArray(std::move(dictionary));
  }

 private:
  // Begins a batch with codes of `dictionary`, unless this is too large for an array.
  void Use(std::span<const std::string_view> values,
           const std::shared_ptr<const encodings::Dictionary>& dictionary) {
    if (shared_ != nullptr && dictionary == shared_->dictionary) return;
    shared_ = nullptr;
    // Each string begins where the one before it ends (encodings/core/value_dictionary.h).
    const char* const begin = values.front().data();
    const auto bytes = static_cast<size_t>(values.back().data() + values.back().size() - begin);
    if (bytes > PackedStrings::kMaxDataBytes) return;
    FileStrings strings{.dictionary = dictionary, .values = values};
    auto* const offsets =
        reinterpret_cast<int32_t*>(strings.offsets.Extend((values.size() + 1) * sizeof(int32_t)));
    for (size_t i = 0; i < values.size(); ++i)
      offsets[i] = static_cast<int32_t>(values[i].data() - begin);
    offsets[values.size()] = static_cast<int32_t>(bytes);
    shared_ = std::make_shared<FileStrings>(std::move(strings));
  }

  // If the batch has rows, replaces their codes by codes of local_.
  absl::Status UseLocal() {
    if (codes_.empty()) (void)local_.Finish();
    if (shared_ == nullptr) return absl::OkStatus();
    for (uint32_t& code : std::span(Codes(), size())) {
      const std::string_view value = shared_->values[code];
      const std::optional<uint32_t> local = local_.Find(value);
      if (!local) return TooLong(value.size());
      code = *local;
    }
    shared_ = nullptr;
    return absl::OkStatus();
  }

  // The code of a null is 0.
  template <typename V, typename StringOf>
  absl::StatusOr<size_t> AddLocal(const Batch<V>& batch, const StringOf& string_of) {
    // `batch` may lie in the memory where the new codes are written, so each code is read before
    // its place is written.
    uint32_t* const codes = RoomForCodes(batch.size());
    size_t i = 0;
    for (; i < batch.size(); ++i) {
      std::optional<uint32_t> code = 0;
      if (batch.IsValid(i)) {
        const std::string_view value = string_of(batch.values[i]);
        code = local_.Find(value);
        if (!code && i == 0) return TooLong(value.size());
        if (!code) break;
      }
      codes[i] = *code;
    }
    codes_.Extend(i * sizeof(uint32_t));
    return i;
  }

  uint32_t* Codes() { return reinterpret_cast<uint32_t*>(codes_.data()); }

  const size_t capacity_;
  ByteWriter codes_;  // int32
  // The file's dictionary that this batch uses, or null if it uses local_. Before the first row:
  // the dictionary of the last batch.
  std::shared_ptr<const FileStrings> shared_;
  LocalDictionary local_;
};

}  // namespace

std::unique_ptr<ValueStore> NewDictionaryStore(size_t capacity) {
  return std::make_unique<DictionaryStore>(capacity);
}

}  // namespace cfile::internal
