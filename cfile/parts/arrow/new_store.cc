#include "cfile/parts/arrow/new_store.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "cfile/parts/arrow/bitmap.h"
#include "cfile/parts/arrow/buffer_pool.h"
#include "cfile/parts/arrow/dictionary_store.h"
#include "cfile/parts/arrow/string_store.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;

// Moves `bytes` into a new buffer of `parts`.
void FinishBytes(ByteWriter& bytes, ArrayParts& parts) {
  if (bytes.empty()) return parts.AddBuffer(NoBytes(), nullptr);
  auto owner = OwnBytes(bytes);
  const void* const data = owner->data();
  parts.AddBuffer(data, std::move(owner));
}

// Reserves memory for a buffer that has none.
void Begin(size_t capacity, ByteWriter& bytes) {
  if (bytes.empty() && bytes.capacity() < capacity) bytes = TakeBytes(capacity);
}

// Stores values in the form that they have in a column.
template <typename T>
class SameStore final : public TypedStore<T> {
 public:
  explicit SameStore(size_t capacity) : capacity_(capacity) {}

  size_t size() const override { return size_; }
  size_t size_bytes() const override { return size_ * sizeof(T); }

  absl::StatusOr<size_t> Append(const Batch<T>& batch,
                                const std::shared_ptr<const Source>& source) override {
    const std::span<const T> values = batch.values;
    if (InMemoryOf(source, values.data())) {
      if (size_ == 0) {
        borrowed_ = values.data();
        source_ = source;
      }
      if (borrowed_ != nullptr && borrowed_ + size_ == values.data() && !ended_) {
        size_ += values.size();
        return values.size();
      }
    }
    CopyBorrowed();
    Begin(capacity_ * sizeof(T), bytes_);
    std::memcpy(bytes_.Extend(values.size_bytes()), values.data(), values.size_bytes());
    size_ += values.size();
    return values.size();
  }

  T* Room(size_t count) override {
    if (borrowed_ != nullptr) return nullptr;
    Begin(capacity_ * sizeof(T), bytes_);
    bytes_.ReserveMore(count * sizeof(T));
    return reinterpret_cast<T*>(bytes_.data() + bytes_.size());
  }
  void AddWritten(size_t count) override {
    bytes_.Extend(count * sizeof(T));
    size_ += count;
  }

  void Truncate(size_t size) override {
    if (size >= size_) return;
    ended_ = false;
    size_ = size;
    if (borrowed_ == nullptr) bytes_.Truncate(size * sizeof(T));
    if (size == 0) Reset();
  }
  bool ends_borrowed() const override { return ended_; }
  void EndBlock() override { ended_ = borrowed_ != nullptr; }

  void Finish(ArrayParts& parts) override {
    if (borrowed_ != nullptr) {
      parts.AddBuffer(borrowed_, std::move(source_));
    } else {
      FinishBytes(bytes_, parts);
    }
    Reset();
  }

 private:
  void Reset() {
    borrowed_ = nullptr;
    source_ = nullptr;
    ended_ = false;
    size_ = 0;
  }
  void CopyBorrowed() {
    if (borrowed_ == nullptr) return;
    Begin(capacity_ * sizeof(T), bytes_);
    std::memcpy(bytes_.Extend(size_ * sizeof(T)), borrowed_, size_ * sizeof(T));
    borrowed_ = nullptr;
    source_ = nullptr;
    ended_ = false;
  }

  const size_t capacity_;
  size_t size_ = 0;
  ByteWriter bytes_;  // the values, if they are not borrowed
  const T* borrowed_ = nullptr;
  std::shared_ptr<const Source> source_;  // keeps the memory of borrowed_
  bool ended_ = false;                    // the borrowed values reach the end of their block
};

// Stores decimals and int128 as numbers of 16 bytes.
struct ToDecimal128 {
  using Value = int128_t;
  template <typename T>
  static bool Convert(const T& value, Value& out) {
    out = value;
    return true;
  }
};
// Stores int128, which may have 39 digits: a decimal has 38.
struct ToDecimalOf38Digits {
  using Value = int128_t;
  static bool Convert(const int128_t& value, Value& out) {
    constexpr int128_t kEnd = int128_t{10'000'000'000'000'000'000u} * 10'000'000'000'000'000'000u;
    out = value;
    return value < kEnd && value > -kEnd;
  }
};
struct ToNanoseconds {
  using Value = int64_t;
  static bool Convert(const Int96& value, Value& out) { return NanosOfInt96(value, out); }
};

// Converts values to another fixed width. Stores a null as 0.
template <typename T, typename To>
class ConvertedStore final : public TypedStore<T> {
  using Value = typename To::Value;

 public:
  explicit ConvertedStore(size_t capacity) : capacity_(capacity) {}

  size_t size() const override { return bytes_.size() / sizeof(Value); }
  size_t size_bytes() const override { return bytes_.size(); }
  void Truncate(size_t size) override {
    bytes_.Truncate(std::min(bytes_.size(), size * sizeof(Value)));
  }

  absl::StatusOr<size_t> Append(const Batch<T>& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const size_t count = batch.size();
    Begin(capacity_ * sizeof(Value), bytes_);
    uint8_t* const to = bytes_.Extend(count * sizeof(Value));
    for (size_t i = 0; i < count; ++i) {
      Value converted{};
      if (!To::Convert(batch.values[i], converted)) [[unlikely]] {
        converted = {};
        if (batch.IsValid(i)) return OutOfRange();
      }
      std::memcpy(to + i * sizeof(Value), &converted, sizeof(Value));
    }
    return count;
  }

  void Finish(ArrayParts& parts) override { FinishBytes(bytes_, parts); }

 private:
  static absl::Status OutOfRange() {
    return absl::OutOfRangeError(
        std::is_same_v<T, Int96>
            ? "an int96 is a time outside of the range of Arrow's timestamps in nanoseconds"
            : "an int128 has more than the 38 digits of Arrow's decimal128");
  }

  const size_t capacity_;
  ByteWriter bytes_;
};

class BitStore final : public TypedStore<bool> {
 public:
  size_t size() const override { return bits_.size(); }
  size_t size_bytes() const override { return bits_.size() / 8; }
  void Truncate(size_t size) override { bits_.Truncate(size); }
  absl::StatusOr<size_t> Append(const Batch<bool>& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    bits_.AppendBytes(reinterpret_cast<const uint8_t*>(batch.values.data()), batch.size());
    return batch.size();
  }
  void Finish(ArrayParts& parts) override {
    if (bits_.size() == 0) return parts.AddBuffer(NoBytes(), nullptr);
    bits_.Finish(parts);
  }

 private:
  Bitmap bits_;
};

class FixedBytesStore final : public TypedStore<std::string_view> {
 public:
  FixedBytesStore(size_t width, size_t capacity) : width_(width), capacity_(capacity) {}

  size_t size() const override { return bytes_.size() / width_; }
  size_t size_bytes() const override { return bytes_.size(); }
  size_t null_bytes() const override { return width_; }
  void Truncate(size_t size) override { bytes_.Truncate(std::min(bytes_.size(), size * width_)); }
  absl::StatusOr<size_t> Append(const Batch<std::string_view>& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const size_t room = (INT32_MAX - bytes_.size()) / width_;
    const size_t count = std::min(batch.size(), room);
    if (count == 0) return TooLong(width_);
    Begin(std::min(capacity_ * width_, kEnoughBytes), bytes_);
    uint8_t* to = bytes_.Extend(count * width_);
    for (const std::string_view value : batch.values.first(count)) {
      if (value.size() == width_) {
        std::memcpy(to, value.data(), width_);
      } else {
        std::memset(to, 0, width_);  // a null
      }
      to += width_;
    }
    return count;
  }
  void Finish(ArrayParts& parts) override { FinishBytes(bytes_, parts); }

 private:
  const size_t width_;
  const size_t capacity_;
  ByteWriter bytes_;
};

template <typename T>
std::unique_ptr<TypedStore<T>> NewStoreOf(const ColumnType& type, ArrowLayout layout,
                                          size_t capacity) {
  using Store = std::unique_ptr<TypedStore<T>>;
  if constexpr (std::is_same_v<T, bool>) {
    return std::make_unique<BitStore>();
  } else if constexpr (std::is_same_v<T, Int96>) {
    return std::make_unique<ConvertedStore<T, ToNanoseconds>>(capacity);
  } else if constexpr (kIsBytes<T>) {
    switch (layout) {
      case ArrowLayout::kFixedBytes:
        return std::make_unique<FixedBytesStore>(type.type_length, capacity);
      case ArrowLayout::kViews:
        return NewViewStore(capacity);
      case ArrowLayout::kDictionary:
        return NewDictionaryStore(capacity);
      default:
        return NewPackedStore();
    }
  } else if constexpr (std::is_same_v<T, int128_t>) {
    if (type.data_type == DataType::kInt128)
      return std::make_unique<ConvertedStore<T, ToDecimalOf38Digits>>(capacity);
    return std::make_unique<SameStore<T>>(capacity);
  } else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    return layout == ArrowLayout::kDecimal128
               ? Store(std::make_unique<ConvertedStore<T, ToDecimal128>>(capacity))
               : Store(std::make_unique<SameStore<T>>(capacity));
  } else {
    return std::make_unique<SameStore<T>>(capacity);
  }
}

}  // namespace

std::unique_ptr<ValueStore> NewStore(const ColumnType& type, ArrowLayout layout, size_t capacity) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> std::unique_ptr<ValueStore> {
    return NewStoreOf<T>(type, layout, capacity);
  });
}

}  // namespace cfile::internal
