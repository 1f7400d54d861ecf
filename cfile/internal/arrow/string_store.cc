#include "cfile/internal/arrow/string_store.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cfile/internal/arrow/buffer_pool.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::PackedStrings;
using Strings = Batch<std::string_view>;

// Returns how many of the first values have at most `room` bytes in total.
size_t Fitting(std::span<const std::string_view> values, size_t room) {
  size_t bytes = 0;
  size_t count = 0;
  for (; count < values.size(); ++count) {
    bytes += values[count].size();
    if (bytes > room) break;
  }
  return count;
}

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

  PackedStrings* Packed() override { return &strings_; }

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

// Stores strings for the Arrow types "vu" and "vz".
class ViewStore final : public TypedStore<std::string_view> {
 public:
  size_t size() const override { return views_.size() / sizeof(View); }
  size_t size_bytes() const override { return views_.size() + copies_.size(); }

  absl::StatusOr<size_t> Append(const Strings& batch,
                                const std::shared_ptr<const Source>& source) override {
    const std::span<const uint8_t> memory =
        source == nullptr ? std::span<const uint8_t>() : source->InMemory();
    const size_t count = batch.size();
    auto* const views = reinterpret_cast<View*>(views_.Extend(count * sizeof(View)));
    for (size_t i = 0; i < count; ++i) {
      const std::string_view value = batch.values[i];
      View view;
      if (value.size() <= sizeof(view.rest)) {
        view.length = static_cast<int32_t>(value.size());
        if (!value.empty()) std::memcpy(view.rest, value.data(), value.size());
      } else {
        if (value.size() > INT32_MAX - copies_.size()) {
          views_.Truncate(views_.size() - (count - i) * sizeof(View));
          if (i == 0) return TooLong(value.size());
          return i;
        }
        const bool borrowed =
            value.data() >= reinterpret_cast<const char*>(memory.data()) &&
            value.data() < reinterpret_cast<const char*>(memory.data()) + memory.size();
        view = borrowed ? Borrow(value, source) : Copy(value);
      }
      std::memcpy(views + i, &view, sizeof(view));
    }
    return count;
  }

  // The bytes and the buffers of removed views are not removed.
  void Truncate(size_t size) override {
    views_.Truncate(std::min(views_.size(), size * sizeof(View)));
  }

  // The first buffer of bytes has the copied strings.
  void Finish(ArrayParts& parts) override {
    auto owner = std::make_shared<Contents>();
    owner->views.Swap(views_);
    owner->copies.Swap(copies_);
    owner->sizes.push_back(static_cast<int64_t>(owner->copies.size()));
    parts.AddBuffer(owner->views.empty() ? NoBytes() : owner->views.data(), nullptr);
    parts.AddBuffer(owner->copies.empty() ? NoBytes() : owner->copies.data(), nullptr);
    for (Window& window : windows_) {
      owner->sizes.push_back(window.size);
      parts.AddBuffer(window.begin, std::move(window.source));
    }
    windows_.clear();
    const void* const sizes = owner->sizes.data();
    parts.AddBuffer(sizes, std::move(owner));
  }

 private:
  // A short view holds its string.
  // A long view holds the length of the string and the place of the bytes.
  struct View {
    int32_t length = 0;
    char rest[12] = {};
  };
  static_assert(sizeof(View) == 16);
  struct Contents {
    ByteWriter views;
    ByteWriter copies;
    std::vector<int64_t> sizes;  // the size of each buffer of bytes
  };
  // Bytes in the memory of a source. They become a buffer of the array.
  struct Window {
    const char* begin;
    int64_t size;
    std::shared_ptr<const Source> source;
  };

  static View Place(std::string_view value, size_t buffer, size_t offset) {
    View view{.length = static_cast<int32_t>(value.size())};
    const int32_t place[] = {static_cast<int32_t>(buffer), static_cast<int32_t>(offset)};
    std::memcpy(view.rest, value.data(), 4);
    std::memcpy(view.rest + 4, place, sizeof(place));
    return view;
  }
  View Copy(std::string_view value) {
    const size_t offset = copies_.size();
    copies_.PutBytes(value);
    return Place(value, 0, offset);
  }
  View Borrow(std::string_view value, const std::shared_ptr<const Source>& source) {
    if (windows_.empty() || windows_.back().source != source ||
        value.data() < windows_.back().begin ||
        value.data() + value.size() > windows_.back().begin + INT32_MAX) {
      windows_.push_back({value.data(), 0, source});
    }
    Window& window = windows_.back();
    const int64_t offset = value.data() - window.begin;
    window.size = std::max(window.size, offset + static_cast<int64_t>(value.size()));
    return Place(value, windows_.size(), static_cast<size_t>(offset));
  }

  ByteWriter views_;
  ByteWriter copies_;
  std::vector<Window> windows_;
};

}  // namespace

std::unique_ptr<TypedStore<std::string_view>> NewPackedStore() {
  return std::make_unique<PackedStore>();
}
std::unique_ptr<TypedStore<std::string_view>> NewViewStore() {
  return std::make_unique<ViewStore>();
}

}  // namespace cfile::internal
