#include "encodings/parquet/parquet_plain.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/back_to_back.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/fixed_width_decoder.h"

namespace cfile::encodings {
namespace {

// Encodes bools, numbers, and byte strings of `type_length` bytes each.
template <typename P>
class FixedPageEncoder final : public PageEncoder<P> {
 public:
  explicit FixedPageEncoder(uint32_t type_length) : type_length_(type_length) {}

  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if constexpr (std::is_same_v<P, bool>) {
      PackBools(values, block.bytes.Extend(static_cast<size_t>(BitmapBytes(values.size()))));
    } else if constexpr (kIsBytes<P>) {
      uint8_t* out = block.bytes.Extend(values.size() * type_length_);
      for (const P& value : values) {
        CFILE_ASSERT(value.size() == type_length_);
        std::memcpy(out, value.data(), type_length_);
        out += type_length_;
      }
    } else {
      block.aligned_values_offset = static_cast<uint32_t>(block.bytes.size());
      if (!values.empty())
        std::memcpy(block.bytes.Extend(values.size_bytes()), values.data(), values.size_bytes());
    }
  }

 private:
  const uint32_t type_length_;
};

template <typename P>
class FixedPageDecoder final : public FixedWidthDecoder<P> {
 public:
  using FixedWidthDecoder<P>::FixedWidthDecoder;

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    const uint64_t needed = this->BytesOf(block.count);
    if (block.bytes.size() < needed) {
      return DataLoss("parquet-plain: ", block.count, " values take ", needed, " bytes, found ",
                      block.bytes.size());
    }
    this->values_ = block.bytes;
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
};

constexpr size_t kLengthBytes = 4;

class BytesPageEncoder final : public PageEncoder<std::string_view> {
 public:
  void Encode(std::span<const std::string_view> values, EncodedBlock& block) override {
    // Reads each value only once, because it may have to come from main memory.
    for (size_t i = 0; i < values.size();) {
      const BackToBack run = FindBackToBack(values, i);
      const auto size = static_cast<size_t>(run.bytes_end - values[i].data());
      block.bytes.ReserveMore(size + (run.end - i) * kLengthBytes + kCopyAhead);
      uint8_t* const begin = block.bytes.Extend(0);
      uint8_t* out = begin;
      for (; i < run.end; ++i) {
        PrefetchAhead(values[i].data());
        StoreLittleEndian(static_cast<uint32_t>(values[i].size()), out);
        CopyShort(values[i], run.bytes_end, out + kLengthBytes);
        out += kLengthBytes + values[i].size();
      }
      block.bytes.Extend(static_cast<size_t>(out - begin));
    }
  }
};

// Reads forwards from value to value. The first seek to another value or to a key finds the offsets
// of all values; the decoder keeps them for the rest of the page.
class BytesPageDecoder final : public BlockDecoder<std::string_view> {
 public:
  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    have_offsets_ = false;
    next_ = 0;
    // A page has less than 2^31 bytes, so bytes after the first 2^32 - 1 are not part of it.
    bytes_ = block.bytes.first(
        std::min<size_t>(block.bytes.size(), std::numeric_limits<uint32_t>::max()));
    // This check bounds the memory for `count` offsets by the size of the page.
    if (block.count > bytes_.size() / kLengthBytes) {
      return DataLoss("parquet-plain: the lengths of ", block.count, " values take ",
                      uint64_t{block.count} * kLengthBytes, " bytes, found ", bytes_.size());
    }
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= count_);
    if (position == position_) return absl::OkStatus();
    if (position == 0) {
      next_ = 0;
    } else {
      CFILE_RETURN_IF_ERROR(FindOffsets());
      next_ = offsets_[position];
    }
    position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    const size_t n = Left(out.size());
    const uint8_t* const begin = bytes_.data();
    const size_t end = bytes_.size();
    size_t next = next_;
    for (size_t i = 0; i < n;) {
      for (const size_t stop = std::min(n, i + kStep); i < stop; ++i) {
        if (end - next < kLengthBytes) return Truncated(position_ + i, next);
        const size_t size = LoadLittleEndian<uint32_t>(begin + next);
        next += kLengthBytes;
        PrefetchAhead(begin + next);
        if (size > end - next) return Truncated(position_ + i, next - kLengthBytes);
        out[i] = AsString({begin + next, size});
        next += size;
      }
      // The loop above reads each value only after the length of the value before it. Values of
      // equal length need not wait for it.
      const size_t size = out[i - 1].size();
      if (i < kStep || size != out[i - 2].size() || size != out[i - 3].size() ||
          size != out[i - 4].size()) {
        continue;
      }
      const size_t same = ReadEqual(size, next, out.subspan(i, n - i));
      i += same;
      next += same * (kLengthBytes + size);
    }
    next_ = next;
    position_ += static_cast<uint32_t>(n);
    return n;
  }

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    const size_t n = Left(max);
    PackedBudget budget(out);
    uint32_t* const ends = out.ReserveOffsets(n);
    size_t next = next_;
    size_t done = 0;
    while (done < n) {
      done += PackShort(n - done, next, budget, out, ends + done);
      if (done == n) break;
      // Append one value of any size, at any position in the page.
      const bool has_length = bytes_.size() - next >= kLengthBytes;
      const size_t size = has_length ? LoadLittleEndian<uint32_t>(bytes_.data() + next) : 0;
      if (!has_length || size > bytes_.size() - next - kLengthBytes) {
        if (done == 0) return Truncated(position_, next);
        break;
      }
      if (!budget.Take(size)) break;
      uint8_t* const to = out.ReserveData(size);
      if (size > 0) std::memcpy(to, bytes_.data() + next + kLengthBytes, size);
      out.Add(1, size);
      ends[done++] = static_cast<uint32_t>(out.data().size());
      next += kLengthBytes + size;
    }
    next_ = next;
    position_ += static_cast<uint32_t>(done);
    return done;
  }

  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    CFILE_RETURN_IF_ERROR(FindOffsets());
    const LowerBound bound = SeekToKeyInPlace(key, [&](uint32_t i) { return ValueAt(i); });
    next_ = offsets_[position_];
    return bound;
  }

 private:
  // After every kStep values, Read tests whether the last four have equal lengths.
  static constexpr size_t kStep = 32;

  // Writes views of the values from byte `next` on to `out`, as long as each has `size` bytes, and
  // returns how many.
  size_t ReadEqual(size_t size, size_t next, std::span<std::string_view> out) const {
    const size_t step = kLengthBytes + size;
    const size_t most = std::min(out.size(), (bytes_.size() - next) / step);
    const uint8_t* value = bytes_.data() + next;
    size_t i = 0;
    for (; i < most && LoadLittleEndian<uint32_t>(value) == size; ++i, value += step)
      out[i] = AsString({value + kLengthBytes, size});
    return i;
  }

  // Appends up to `count` values from byte `next` on to `out`, and writes their end offsets to
  // `ends`. Stops at a value that is too long, or too near the end of the page, to be copied in one
  // wide step together with bytes after it, and at the end of the budget. Returns how many values
  // it appended, and moves `next` past them.
  size_t PackShort(size_t count, size_t& next, PackedBudget& budget, PackedStrings& out,
                   uint32_t* ends) const {
    constexpr size_t kWide = PackedStrings::kAhead;
    if (bytes_.size() - next < kLengthBytes + kWide) return 0;
    const size_t room = std::min({budget.left(), bytes_.size() - next, count * kWide});
    const auto before = static_cast<uint32_t>(out.data().size());
    uint8_t* const begin = out.ReserveData(room);
    const uint8_t* from = bytes_.data() + next;
    const uint8_t* const last = bytes_.data() + bytes_.size() - kLengthBytes - kWide;
    size_t used = 0;
    size_t done = 0;
    for (; done < count && from <= last; ++done) {
      const size_t size = LoadLittleEndian<uint32_t>(from);
      PrefetchAhead(from);
      if (size > kWide || size > room - used) break;
      CopyWide<16>(from + kLengthBytes, begin + used);
      if (size > 16) CopyWide<kWide - 16>(from + kLengthBytes + 16, begin + used + 16);
      from += kLengthBytes + size;
      used += size;
      ends[done] = before + static_cast<uint32_t>(used);
    }
    next = static_cast<size_t>(from - bytes_.data());
    budget.Use(used);
    out.Add(done, used);
    return done;
  }

  absl::Status FindOffsets() {
    if (have_offsets_) return absl::OkStatus();
    if (offsets_.size() <= count_) offsets_.resize(size_t{count_} + 1);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      offsets_[i] = next;
      if (bytes_.size() - next < kLengthBytes) return Truncated(i, next);
      const auto size = LoadLittleEndian<uint32_t>(bytes_.data() + next);
      if (size > bytes_.size() - next - kLengthBytes) return Truncated(i, next);
      next += uint32_t{kLengthBytes} + size;
    }
    offsets_[count_] = next;
    have_offsets_ = true;
    return absl::OkStatus();
  }

  absl::Status Truncated(size_t value, size_t offset) const {
    const size_t left = bytes_.size() - offset;
    if (left < kLengthBytes) {
      return DataLoss("parquet-plain: value ", value, " at byte ", offset, ": its length takes ",
                      kLengthBytes, " bytes, found ", left);
    }
    return DataLoss("parquet-plain: value ", value, " at byte ", offset, " has ",
                    LoadLittleEndian<uint32_t>(bytes_.data() + offset), " bytes, found ",
                    left - kLengthBytes);
  }

  std::string_view ValueAt(uint32_t position) const {
    const size_t begin = offsets_[position] + kLengthBytes;
    return AsString({bytes_.data() + begin, offsets_[position + 1] - begin});
  }

  std::span<const uint8_t> bytes_;
  size_t next_ = 0;  // offset of the value at position_
  bool have_offsets_ = false;
  std::vector<uint32_t> offsets_;  // if have_offsets_: of each value, and the end of the last value
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ParquetPlainCodec::MakePageEncoder(const EncoderOptions& options) {
  if constexpr (kIsBytes<P>) {
    if (options.type_length == 0) return std::make_unique<BytesPageEncoder>();
  }
  return std::make_unique<FixedPageEncoder<P>>(options.type_length);
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ParquetPlainCodec::MakePageDecoder(const DecoderOptions& options) {
  if constexpr (kIsBytes<P>) {
    if (options.type_length == 0) return std::make_unique<BytesPageDecoder>();
  }
  return std::make_unique<FixedPageDecoder<P>>(options.type_length);
}

absl::Status ParquetPlainCodec::Describe(PhysicalType type, const DecoderOptions& options,
                                         const BlockView& block, BlockDescription& description) {
  if (type != PhysicalType::kBytes) {
    const uint64_t size = VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
      using P = PageType<T>;
      if (std::is_same_v<P, bool>) return BitmapBytes(block.count);
      return uint64_t{block.count} *
             (kIsBytes<P> ? PageTypeLength<T>(type, options.type_length) : uint32_t{sizeof(P)});
    });
    return description.AddBytes(size, "values");
  }
  uint32_t value = 0;
  for (; value < block.count && !description.full(); ++value) {
    uint32_t size;
    if (!description.reader().ReadFixed(size) || !description.reader().Skip(size))
      return DataLoss("value ", value, " at or before byte ", description.reader().offset(),
                      " is cut off");
    description.Add("value", StrCat("size ", size));
  }
  if (value < block.count) description.AddRest("further values");
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(P)                           \
  CFILE_INSTANTIATE_PAGE_ENCODER(ParquetPlainCodec, P) \
  CFILE_INSTANTIATE_PAGE_DECODER(ParquetPlainCodec, P)
CFILE_FOR_EACH_PAGE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
