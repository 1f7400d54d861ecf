#include "cfile/parts/arrow/value_store.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "cfile/parts/arrow/bitmap.h"
#include "cfile/parts/arrow/buffer_pool.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/lane.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;

// Reserves memory for a buffer that has none.
void Begin(size_t capacity, ByteWriter& bytes) {
  if (bytes.empty() && bytes.capacity() < capacity) bytes = TakeBytes(capacity);
}

// Stores values of a fixed width in the form that they have in a column.
class SameStore final : public ValueStore {
 public:
  SameStore(size_t width, size_t capacity) : width_(width), capacity_(capacity) {}

  size_t size() const override { return size_bytes_ / width_; }
  size_t size_bytes() const override { return size_bytes_; }

  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& source) override {
    const auto* const values = static_cast<const uint8_t*>(batch.values);
    const size_t added = batch.size() * width_;
    if (InMemoryOf(source, values)) {
      if (size_bytes_ == 0) {
        borrowed_ = values;
        source_ = source;
      }
      if (borrowed_ != nullptr && borrowed_ + size_bytes_ == values && !ended_) {
        size_bytes_ += added;
        return batch.size();
      }
    }
    CopyBorrowed();
    Begin(capacity_ * width_, bytes_);
    std::memcpy(bytes_.Extend(added), values, added);
    size_bytes_ += added;
    return batch.size();
  }

  void* Room(size_t count) override {
    if (borrowed_ != nullptr) return nullptr;
    Begin(capacity_ * width_, bytes_);
    bytes_.ReserveMore(count * width_);
    return bytes_.data() + bytes_.size();
  }
  void AddWritten(size_t count) override {
    bytes_.Extend(count * width_);
    size_bytes_ += count * width_;
  }

  void Truncate(size_t size) override {
    if (size * width_ >= size_bytes_) return;
    ended_ = false;
    size_bytes_ = size * width_;
    if (borrowed_ == nullptr) bytes_.Truncate(size_bytes_);
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
    size_bytes_ = 0;
  }
  void CopyBorrowed() {
    if (borrowed_ == nullptr) return;
    Begin(capacity_ * width_, bytes_);
    std::memcpy(bytes_.Extend(size_bytes_), borrowed_, size_bytes_);
    borrowed_ = nullptr;
    source_ = nullptr;
    ended_ = false;
  }

  const size_t width_;
  const size_t capacity_;
  size_t size_bytes_ = 0;
  ByteWriter bytes_;  // the values, if they are not borrowed
  const uint8_t* borrowed_ = nullptr;
  std::shared_ptr<const Source> source_;  // keeps the memory of borrowed_
  bool ended_ = false;                    // the borrowed values reach the end of their block
};

// Stores integers as decimals of 16 bytes. An int128 may have 39 digits: a decimal has 38.
struct ToDecimal128 {
  using Value = int128_t;
  template <typename T>
  static bool Convert(const T& value, Value& out) {
    constexpr int128_t kEnd = int128_t{10'000'000'000'000'000'000u} * 10'000'000'000'000'000'000u;
    out = value;
    return out < kEnd && out > -kEnd;
  }
};
struct ToNanoseconds {
  using Value = int64_t;
  static bool Convert(const Int96& value, Value& out) { return NanosOfInt96(value, out); }
};

// Converts values to another fixed width, and nulls to 0.
template <typename T, typename To>
class ConvertedStore final : public ValueStore {
  using Value = typename To::Value;

 public:
  explicit ConvertedStore(size_t capacity) : capacity_(capacity) {}

  size_t size() const override { return bytes_.size() / sizeof(Value); }
  size_t size_bytes() const override { return bytes_.size(); }
  void Truncate(size_t size) override {
    bytes_.Truncate(std::min(bytes_.size(), size * sizeof(Value)));
  }

  absl::StatusOr<size_t> Append(const AnyBatch& rows,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const Batch<T> batch = rows.As<T>();
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

class BitStore final : public ValueStore {
 public:
  size_t size() const override { return bits_.size(); }
  size_t size_bytes() const override { return bits_.size() / 8; }
  void Truncate(size_t size) override { bits_.Truncate(size); }
  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    bits_.AppendBytes(static_cast<const uint8_t*>(batch.values), batch.size());
    return batch.size();
  }
  void Finish(ArrayParts& parts) override {
    if (bits_.size() == 0) return parts.AddBuffer(NoBytes(), nullptr);
    bits_.Finish(parts);
  }

 private:
  Bitmap bits_;
};

class FixedBytesStore final : public ValueStore {
 public:
  FixedBytesStore(size_t width, size_t capacity) : width_(width), capacity_(capacity) {}

  size_t size() const override { return bytes_.size() / width_; }
  size_t size_bytes() const override { return bytes_.size(); }
  size_t null_bytes() const override { return width_; }
  void Truncate(size_t size) override { bytes_.Truncate(std::min(bytes_.size(), size * width_)); }
  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& /*source*/) override {
    const size_t room = (INT32_MAX - bytes_.size()) / width_;
    const size_t count = std::min(batch.size(), room);
    if (count == 0) return TooLong(width_);
    Begin(std::min(capacity_ * width_, kEnoughBytes), bytes_);
    uint8_t* to = bytes_.Extend(count * width_);
    for (const std::string_view value : batch.As<std::string_view>().values.first(count)) {
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

std::unique_ptr<ValueStore> NewDecimalStore(const ColumnType& type, size_t capacity) {
  switch (type.data_type) {
    case DataType::kDecimal32:
      return std::make_unique<ConvertedStore<int32_t, ToDecimal128>>(capacity);
    case DataType::kDecimal64:
      return std::make_unique<ConvertedStore<int64_t, ToDecimal128>>(capacity);
    case DataType::kInt128:
      return std::make_unique<ConvertedStore<int128_t, ToDecimal128>>(capacity);
    default:
      return std::make_unique<SameStore>(sizeof(int128_t), capacity);
  }
}

}  // namespace

std::unique_ptr<ValueStore> NewStore(const ColumnType& type, ArrowLayout layout, size_t capacity) {
  switch (layout) {
    case ArrowLayout::kSame:
      return std::make_unique<SameStore>(encodings::WidthOf(encodings::LaneOf(type.physical())),
                                         capacity);
    case ArrowLayout::kBits:
      return std::make_unique<BitStore>();
    case ArrowLayout::kDecimal128:
      return NewDecimalStore(type, capacity);
    case ArrowLayout::kTimestamp:
      return std::make_unique<ConvertedStore<Int96, ToNanoseconds>>(capacity);
    case ArrowLayout::kFixedBytes:
      return std::make_unique<FixedBytesStore>(type.type_length, capacity);
    case ArrowLayout::kStrings:
      return NewPackedStore();
    case ArrowLayout::kViews:
      return NewViewStore(capacity);
    case ArrowLayout::kDictionary:
      return NewDictionaryStore(capacity);
  }
  CFILE_ASSERT(false && "an unknown ArrowLayout");
  return nullptr;
}

}  // namespace cfile::internal
