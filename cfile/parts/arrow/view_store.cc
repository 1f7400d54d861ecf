#include "cfile/parts/arrow/value_store.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "cfile/parts/arrow/buffer_pool.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::PackedStrings;
using Strings = std::span<const std::string_view>;

// Arrow's view of a string. A short view holds its string; a long view holds the length of its
// string, the first 4 bytes, the number of a buffer, and an offset in this buffer.
struct View {
  int32_t length = 0;
  char rest[12] = {};
};
static_assert(sizeof(View) == 16);
constexpr size_t kMaxShort = sizeof(View::rest);

View LongView(std::string_view value, size_t buffer, size_t offset) {
  View view{.length = static_cast<int32_t>(value.size())};
  const int32_t place[] = {static_cast<int32_t>(buffer), static_cast<int32_t>(offset)};
  std::memcpy(view.rest, value.data(), 4);
  std::memcpy(view.rest + 4, place, sizeof(place));
  return view;
}

// A few copies of fixed sizes take less time than a call of memcpy. Precondition: value.size() <=
// kMaxShort.
View ShortView(std::string_view value) {
  const size_t size = value.size();
  const char* const from = value.data();
  View view{.length = static_cast<int32_t>(size)};
  if (size >= 4) {
    if (size >= 8)
      std::memcpy(view.rest, from, 8);
    else
      std::memcpy(view.rest, from, 4);
    std::memcpy(view.rest + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    view.rest[0] = from[0];
    view.rest[size / 2] = from[size / 2];
    view.rest[size - 1] = from[size - 1];
  }
  return view;
}

// Precondition: kMaxShort bytes can be read at `from`.
View ShortView(const uint8_t* from, size_t size) {
  static constexpr auto kMasks = [] {
    std::array<uint8_t, 2 * kMaxShort> masks{};
    std::fill_n(masks.begin(), kMaxShort, uint8_t{0xff});
    return masks;
  }();
  uint64_t head, head_mask;
  uint32_t tail, tail_mask;
  std::memcpy(&head, from, sizeof(head));
  std::memcpy(&tail, from + sizeof(head), sizeof(tail));
  std::memcpy(&head_mask, kMasks.data() + kMaxShort - size, sizeof(head));
  std::memcpy(&tail_mask, kMasks.data() + kMaxShort - size + sizeof(head), sizeof(tail));
  head &= head_mask;
  tail &= tail_mask;
  View view{.length = static_cast<int32_t>(size)};
  std::memcpy(view.rest, &head, sizeof(head));
  std::memcpy(view.rest + sizeof(head), &tail, sizeof(tail));
  return view;
}

// Stores strings for the Arrow types "vu" and "vz", the bytes of long strings in packed_, in a
// source, or in the dictionary of a file.
class ViewStore final : public ValueStore {
 public:
  explicit ViewStore(size_t capacity) : capacity_(capacity) {}

  size_t size() const override {
    return views_.size() / sizeof(View) + packed_.size() - num_viewed_;
  }
  size_t size_bytes() const override { return views_.size() + packed_.data().size(); }

  absl::StatusOr<size_t> Append(const AnyBatch& batch,
                                const std::shared_ptr<const Source>& source) override {
    ViewPacked();
    const Strings values = batch.As<std::string_view>().values;
    if (source != nullptr && !source->InMemory().empty()) return AppendBorrowed(values, source);
    return Copy(values);
  }

  PackedStrings* Packed(const Source& source) override {
    if (!source.InMemory().empty()) return nullptr;  // Append will borrow the strings
    ViewPacked();
    return &packed_;
  }

  uint32_t* RoomForCodes(size_t count) override {
    codes_.resize(std::max(codes_.size(), count));
    return codes_.data();
  }
  absl::StatusOr<size_t> AppendCodes(
      const Batch<uint32_t>& codes, std::span<const std::string_view> values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) override {
    ViewPacked();
    if (!Use(values, dictionary)) {
      std::vector<std::string_view> strings(codes.size());
      for (size_t i = 0; i < codes.size(); ++i) strings[i] = values[codes.values[i]];
      return Copy(strings);
    }
    View* const to = Extend(codes.size());
    for (size_t i = 0; i < codes.size(); ++i) to[i] = dictionary_views_[codes.values[i]];
    return codes.size();
  }

  // The bytes and the buffers of removed views are not removed.
  void Truncate(size_t size) override {
    ViewPacked();
    views_.Truncate(std::min(views_.size(), size * sizeof(View)));
  }

  // The first buffer of bytes has the strings of packed_.
  void Finish(ArrayParts& parts) override {
    ViewPacked();
    FinishBytes(views_, parts);
    auto sizes = std::make_shared<std::vector<int64_t>>();
    if (num_viewed_ == 0) {
      sizes->push_back(0);
      parts.AddBuffer(NoBytes(), nullptr);
    } else {
      auto packed = OwnStrings(packed_);
      packed_ = TakeStrings();
      num_viewed_ = 0;
      sizes->push_back(static_cast<int64_t>(packed->data().size()));
      const void* const data = packed->data().data();
      parts.AddBuffer(data, std::move(packed));
    }
    for (Window& window : windows_) {
      sizes->push_back(window.size);
      parts.AddBuffer(window.begin, std::move(window.owner));
    }
    windows_.clear();
    dictionary_in_windows_ = false;
    const void* const data = sizes->data();
    parts.AddBuffer(data, std::move(sizes));
  }

 private:
  // Bytes of a source or a dictionary, which become a buffer of the array.
  struct Window {
    const char* begin;
    int64_t size;
    std::shared_ptr<const void> owner;
  };

  View* Extend(size_t count) {
    if (views_.capacity() == 0)
      views_ = TakeBytes(std::min(capacity_ * sizeof(View), kEnoughBytes));
    return reinterpret_cast<View*>(views_.Extend(count * sizeof(View)));
  }

  // Makes views of the strings of packed_ that have none.
  void ViewPacked() {
    const size_t count = packed_.size() - num_viewed_;
    if (count == 0) return;
    View* const to = Extend(count);
    const std::span<const uint32_t> offsets = packed_.offsets().subspan(num_viewed_);
    // PackedStrings has kAhead more bytes, unless there is no string with bytes.
    const uint8_t* const data =
        packed_.data().empty() ? static_cast<const uint8_t*>(NoBytes()) : packed_.data().data();
    static_assert(PackedStrings::kAhead >= kMaxShort);
    uint32_t longest = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t size = offsets[i + 1] - offsets[i];
      longest = std::max(longest, size);
      to[i] = size <= kMaxShort ? ShortView(data + offsets[i], size)
                                : LongView(packed_[num_viewed_ + i], 0, offsets[i]);
    }
    num_viewed_ = packed_.size();
    // The memory stays in the processor's cache if it is used again at once.
    if (num_viewed_ == count && longest <= kMaxShort) {
      packed_.Clear();
      num_viewed_ = 0;
    }
  }

  absl::StatusOr<size_t> Copy(Strings values) {
    const size_t count = Fitting(values, packed_.room());
    if (count == 0) return TooLong(values[0].size());
    packed_.Append(values.first(count));
    return count;
  }

  absl::StatusOr<size_t> AppendBorrowed(Strings values,
                                        const std::shared_ptr<const Source>& source) {
    View* const views = Extend(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string_view value = values[i];
      if (value.size() <= kMaxShort) {
        views[i] = ShortView(value);
      } else if (InMemoryOf(source, value.data())) {
        views[i] = Borrow(value, source);
      } else if (value.size() <= packed_.room()) {
        views[i] = LongView(value, 0, packed_.data().size());
        packed_.Append({&value, 1});
        num_viewed_ = packed_.size();
      } else {
        views_.Truncate(views_.size() - (values.size() - i) * sizeof(View));
        if (i == 0) return TooLong(value.size());
        return i;
      }
    }
    return values.size();
  }

  View Borrow(std::string_view value, const std::shared_ptr<const Source>& source) {
    if (windows_.empty() || windows_.back().owner != source ||
        value.data() < windows_.back().begin ||
        value.data() + value.size() > windows_.back().begin + INT32_MAX) {
      windows_.push_back({value.data(), 0, source});
    }
    Window& window = windows_.back();
    const int64_t offset = value.data() - window.begin;
    window.size = std::max(window.size, offset + static_cast<int64_t>(value.size()));
    return LongView(value, windows_.size(), static_cast<size_t>(offset));
  }

  // Makes dictionary_views_ the views of `values`.
  // Returns false if `dictionary` is too large for a buffer.
  bool Use(std::span<const std::string_view> values,
           const std::shared_ptr<const encodings::Dictionary>& dictionary) {
    const bool same = dictionary == dictionary_;
    if (same && dictionary_in_windows_) return true;
    // Each string begins where the one before it ends (encodings/core/value_dictionary.h).
    const char* const begin = values.front().data();
    const int64_t bytes = values.back().data() + values.back().size() - begin;
    if (bytes > INT32_MAX) return false;
    windows_.push_back({begin, bytes, dictionary});
    dictionary_in_windows_ = true;
    if (same && dictionary_buffer_ == windows_.size()) return true;
    dictionary_ = dictionary;
    dictionary_buffer_ = windows_.size();
    dictionary_views_.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string_view value = values[i];
      dictionary_views_[i] =
          value.size() <= kMaxShort
              ? ShortView(value)
              : LongView(value, dictionary_buffer_, static_cast<size_t>(value.data() - begin));
    }
    return true;
  }

  const size_t capacity_;
  ByteWriter views_;
  // Strings that were copied or decoded. The first num_viewed_ of them have views.
  PackedStrings packed_ = TakeStrings();
  size_t num_viewed_ = 0;
  std::vector<Window> windows_;
  std::vector<uint32_t> codes_;

  // The last dictionary, the number of its buffer, and a view for each of its strings.
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  size_t dictionary_buffer_ = 0;
  std::vector<View> dictionary_views_;
  bool dictionary_in_windows_ = false;  // this array has the buffer
};

}  // namespace

std::unique_ptr<ValueStore> NewViewStore(size_t capacity) {
  return std::make_unique<ViewStore>(capacity);
}

}  // namespace cfile::internal
