// Shared parts of the encodings whose blocks hold the bytes of a Parquet data page (encoding
// numbers from kFirstExtendedNumber on).
//
// A page encoding implements PageEncoder<P> and BlockDecoder<P> for Parquet's value types P. With
// these, PageCodec makes block encoders and decoders for all C++ types of columns, so that a page
// encoding need not handle other types, columns or blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "encodings/core/back_to_back.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/bytes.h"
#include "encodings/core/codec.h"
#include "encodings/core/key_order.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/seek_by_reading.h"

namespace cfile::encodings {

// The C++ type of the Parquet values that store values of T (cfile/FORMAT.md, Extended blocks):
// integers of 8 and 16 bits are sign- or zero-extended to INT32, unsigned integers keep their bits,
// 128-bit integers become FIXED_LEN_BYTE_ARRAY(16), big-endian. INT96 is handled as
// FIXED_LEN_BYTE_ARRAY(12), whose pages are the same.
template <typename T>
using PageType = std::conditional_t<
    kIsInteger<T> && sizeof(T) <= 4, int32_t,
    std::conditional_t<kIsInteger<T> && sizeof(T) == 8, int64_t,
                       std::conditional_t<std::is_same_v<T, int128_t> || std::is_same_v<T, Int96>,
                                          std::string_view, T>>>;

// Expands to F(P) for each PageType P.
#define CFILE_FOR_EACH_PAGE_TYPE(F) \
  F(bool)                           \
  F(int32_t)                        \
  F(int64_t)                        \
  F(float)                          \
  F(double)                         \
  F(std::string_view)

// Returns the size in bytes of a FIXED_LEN_BYTE_ARRAY value that stores a T, in a column of `type`
// whose type length is `type_length`; 0 for BYTE_ARRAY and other types.
template <typename T>
uint32_t PageTypeLength(PhysicalType type, uint32_t type_length) {
  if (kIsBytes<PageType<T>> && !kIsBytes<T>) return uint32_t{sizeof(T)};
  return type == PhysicalType::kFixedBytes ? type_length : 0;
}

// Encodes pages. Thread-compatible.
template <typename P>
class PageEncoder {
 public:
  virtual ~PageEncoder() = default;

  // Appends the page of `values` to `block.bytes`. If a page of this encoding can be decoded only
  // from its front, also appends to `block.skip_table` what a decoder needs to begin at every
  // 1,024th value. An encoder with a dictionary may choose another encoding, and then sets
  // block.encoding.
  virtual void Encode(std::span<const P> values, EncodedBlock& block) = 0;

  // See BlockEncoder.
  virtual bool AdoptDictionary(const Dictionary& /*dictionary*/, std::vector<uint32_t>& /*codes*/) {
    return false;
  }
  virtual bool FinishDictionary(ByteWriter& /*out*/) { return false; }
  virtual size_t retained_bytes() const { return 0; }
};

// A page takes at most this many bytes in addition to its strings' own bytes: kWorstTextBytes for
// each string, and kWorstPageBytes once.
inline constexpr size_t kWorstTextBytes = 11;
inline constexpr size_t kWorstPageBytes = 512;

// Returns the limit for the bytes of strings in a block, plus kWorstTextBytes for each string. A
// skip table takes at most a sixteenth of this limit in addition.
inline size_t MostTextBytes(const EncoderOptions& options) {
  if (options.whole_records) return SIZE_MAX;
  const size_t page_bytes = options.max_block_size_bytes / 17 * 16;
  return page_bytes - std::min(page_bytes, kWorstPageBytes);
}

// Collects the values of a block and encodes them as one page.
template <typename T>
class PageBlockEncoder final : public BlockEncoder<T> {
 public:
  using P = PageType<T>;

  PageBlockEncoder(std::unique_ptr<PageEncoder<P>> encoder, const EncoderOptions& options)
      : encoder_(std::move(encoder)),
        block_size_bytes_(options.block_size_bytes),
        whole_records_(options.whole_records),
        most_full_bytes_(MostFullBytes(options)),
        most_text_bytes_(MostTextBytes(options)),
        full_bytes_(options.whole_records ? most_full_bytes_ : options.block_size_bytes) {}

  size_t Append(std::span<const T> values) override {
    size_t taken = 0;
    if constexpr (kIsBytes<P>) {
      for (; taken < values.size() && !full(); ++taken) {
        if constexpr (kIsBytes<T>) {
          taken += AddFitting(values.subspan(taken));
          if (taken == values.size()) break;
        }
        has_room_ = count_ == 0 ||
                    raw_bytes_ + SizeOf(values[taken]) + kWorstTextBytes * (size_t{count_} + 1) <=
                        most_text_bytes_;
        if (!has_room_) break;
        Add(values[taken]);
      }
    } else {
      if (full()) return 0;
      const uint64_t room = (full_bytes_ - raw_bytes_ + sizeof(P) - 1) / sizeof(P);
      taken = static_cast<size_t>(std::min<uint64_t>(values.size(), room));
      values_.Add(values.first(taken));
      raw_bytes_ += taken * sizeof(P);
      count_ += static_cast<uint32_t>(taken);
    }
    return taken;
  }
  bool full() const override { return raw_bytes_ >= full_bytes_ || !has_room_; }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override { return raw_bytes_; }
  size_t retained_bytes() const override { return encoder_->retained_bytes(); }

  void Finish(uint64_t /*first_ordinal*/, EncodedBlock& block) override {
    block.Clear();
    block.count = count_;
    if constexpr (kIsBytes<P>) {
      values_.Clear();
      P* value = values_.Extend(sizes_.size());
      const char* begin = text_.view().data();
      for (const uint32_t size : sizes_) {
        *value++ = {begin, size};
        begin += size;
      }
      sizes_.clear();
    }
    encoder_->Encode(values_.span(), block);
    // Choose how many bytes of values fill the next block. Assume that its page takes as many bytes
    // per value as the page of this block.
    if (count_ > 0 && !whole_records_) {
      const uint64_t wanted =
          uint64_t{block_size_bytes_} * raw_bytes_ / std::max<size_t>(block.bytes.size(), 1);
      full_bytes_ = std::clamp<uint64_t>(wanted, block_size_bytes_, most_full_bytes_);
    }
    values_.Clear();
    text_.Clear();
    raw_bytes_ = count_ = 0;
    has_room_ = true;
  }

  bool AdoptDictionary(const Dictionary& dictionary, std::vector<uint32_t>& codes) override {
    return encoder_->AdoptDictionary(dictionary, codes);
  }
  bool FinishDictionary(ByteWriter& out) override { return encoder_->FinishDictionary(out); }

 private:
  // A block collects values of at most this many times its target size. This bounds a writer's
  // memory.
  static constexpr uint64_t kMaxGrowth = 16;

  // Returns the limit for the bytes of values in a block. A page of numbers takes less than twice
  // as many bytes as its values.
  static uint64_t MostFullBytes(const EncoderOptions& options) {
    const uint64_t grown = kMaxGrowth * uint64_t{options.block_size_bytes};
    // Encoders count the bytes of a page with 31 bits.
    if (options.whole_records) return std::min<uint64_t>(grown, INT32_MAX - 16);
    return std::max<uint64_t>(options.block_size_bytes,
                              std::min<uint64_t>(grown, options.max_block_size_bytes / 2));
  }
  // A growing array of values. Not a std::vector, because std::vector<bool> has no span.
  class Values {
   public:
    // Appends each of `values`, converted to P.
    template <typename V>
    void Add(std::span<const V> values) {
      P* const out = Extend(values.size());
      for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<P>(values[i]);
    }
    // Appends `count` values, which the caller sets. Returns the first one.
    P* Extend(size_t count) {
      if (count > capacity_ - size_) {
        capacity_ = std::max<size_t>({64, 2 * capacity_, size_ + count});
        std::unique_ptr<P[]> larger(new P[capacity_]);
        std::copy_n(values_.get(), size_, larger.get());
        values_ = std::move(larger);
      }
      size_ += count;
      return values_.get() + (size_ - count);
    }
    void Clear() { size_ = 0; }
    std::span<const P> span() const { return {values_.get(), size_}; }

   private:
    std::unique_ptr<P[]> values_;
    size_t size_ = 0;
    size_t capacity_ = 0;
  };

  static size_t SizeOf(const T& value) {
    if constexpr (kIsBytes<T>) {
      return value.size();
    } else {
      return sizeof(value);
    }
  }

  void Add(const T& value) {
    ++count_;
    if constexpr (std::is_same_v<T, int128_t>) {
      uint8_t* bytes = text_.Extend(16);
      for (int i = 15; i >= 0; --i)
        bytes[15 - i] = static_cast<uint8_t>(static_cast<uint128_t>(value) >> (8 * i));
      sizes_.push_back(16);
      raw_bytes_ += 16;
    } else if constexpr (std::is_same_v<T, Int96>) {
      text_.PutFixed(value);
      sizes_.push_back(sizeof(T));
      raw_bytes_ += sizeof(T);
    } else {
      text_.PutBytes(value);
      sizes_.push_back(static_cast<uint32_t>(value.size()));
      raw_bytes_ += value.size() + sizeof(uint32_t);
    }
  }

  // Adds strings that surely leave the block neither full nor without room. Returns how many it
  // added.
  size_t AddFitting(std::span<const T> values) {
    const FittingValues fitting = FindFitting(values, [&](size_t count, size_t bytes) {
      const size_t raw_bytes = raw_bytes_ + bytes + count * sizeof(uint32_t);
      return raw_bytes < full_bytes_ &&
             raw_bytes + kWorstTextBytes * (count_ + count) <= most_text_bytes_;
    });
    CopyFitting(values, fitting, text_.Extend(fitting.size_bytes));
    const size_t first = sizes_.size();
    sizes_.resize(first + fitting.count);
    for (size_t i = 0; i < fitting.count; ++i)
      sizes_[first + i] = static_cast<uint32_t>(values[i].size());
    raw_bytes_ += fitting.size_bytes + fitting.count * sizeof(uint32_t);
    count_ += static_cast<uint32_t>(fitting.count);
    return fitting.count;
  }

  const std::unique_ptr<PageEncoder<P>> encoder_;
  const size_t block_size_bytes_;
  const bool whole_records_;
  const uint64_t most_full_bytes_;
  const size_t most_text_bytes_;
  uint64_t full_bytes_;
  bool has_room_ = true;  // false: the next string does not fit into this block
  Values values_;
  ByteWriter text_;  // if P is std::string_view: the values back to back; sizes_ has their sizes
  std::vector<uint32_t> sizes_;
  size_t raw_bytes_ = 0;
  uint32_t count_ = 0;
};

// True for types that a page stores as a wider type: integers of 8 and 16 bits, stored as INT32.
template <typename T>
inline constexpr bool kIsWidened = kIsInteger<T> && sizeof(T) < sizeof(PageType<T>);

// Checks that all values are between `least` and `greatest`. If not, returns kDataLoss, which names
// the first wrong value and its position. `first`: the position of values[0].
inline absl::Status CheckRange(std::span<const int32_t> values, uint64_t first, int32_t least,
                               int32_t greatest) {
  const auto bad = std::find_if(values.begin(), values.end(),
                                [&](int32_t v) { return v < least || v > greatest; });
  if (bad == values.end()) return absl::OkStatus();
  return DataLoss("value ", first + static_cast<size_t>(bad - values.begin()), " is ", *bad,
                  ", outside the type's range ", least, " to ", greatest);
}

// Converts `values` to T and writes them to `out`. kDataLoss if a value is outside T's range; the
// message names the value and its position, where `first` is the position of values[0].
// Precondition: `out` has room for values.size() elements.
template <typename T>
absl::Status NarrowValues(std::span<const int32_t> values, uint64_t first, T* out) {
  static_assert(kIsWidened<T>);
  // No branch per value, so that the compiler vectorizes the loop.
  uint32_t lost = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<T>(values[i]);
    lost |= static_cast<uint32_t>(values[i] ^ int32_t{out[i]});
  }
  if (lost == 0) return absl::OkStatus();
  return CheckRange(values, first, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

// Decodes a page of P and converts the values to T.
template <typename T>
class PageBlockDecoder final : public BlockDecoder<T> {
 public:
  using P = PageType<T>;

  explicit PageBlockDecoder(std::unique_ptr<BlockDecoder<P>> decoder)
      : decoder_(std::move(decoder)) {}

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    CFILE_RETURN_IF_ERROR(decoder_->Open(block));
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
  absl::Status SeekTo(uint32_t position) override {
    absl::Status status = decoder_->SeekTo(position);
    this->position_ = decoder_->position();
    return status;
  }
  absl::StatusOr<size_t> Read(std::span<T> out) override {
    absl::StatusOr<size_t> read;
    if constexpr (kSameBytes) {
      read = decoder_->Read({reinterpret_cast<P*>(out.data()), out.size()});
    } else {
      P values[512];
      // Read may return fewer values than wanted, so one call of decoder_ is enough.
      read = decoder_->Read({values, std::min(std::size(values), out.size())});
      if constexpr (kIsWidened<T>) {
        if (read.ok()) {
          absl::Status status =
              NarrowValues<T>({values, *read}, decoder_->position() - *read, out.data());
          if (!status.ok()) read = std::move(status);
        }
      } else {
        for (size_t i = 0; i < read.value_or(0); ++i) out[i] = Convert(values[i]);
      }
    }
    this->position_ = decoder_->position();
    return read;
  }
  std::span<const T> Borrow(size_t max) override {
    if constexpr (kSameBytes) {
      const std::span<const P> values = decoder_->Borrow(max);
      this->position_ = decoder_->position();
      return {reinterpret_cast<const T*>(values.data()), values.size()};
    } else {
      return {};
    }
  }
  std::span<const T> DictionaryValues() const override {
    if constexpr (kSameBytes) {
      const std::span<const P> values = decoder_->DictionaryValues();
      return {reinterpret_cast<const T*>(values.data()), values.size()};
    } else {
      return {};
    }
  }
  absl::StatusOr<size_t> ReadCodes(std::span<uint32_t> out) override {
    absl::StatusOr<size_t> read = decoder_->ReadCodes(out);
    this->position_ = decoder_->position();
    return read;
  }
  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    if constexpr (kIsWidened<T>) {
      // The values in the page are wider, but have the same order.
      absl::StatusOr<LowerBound> bound = decoder_->SeekToKey(P{key});
      this->position_ = decoder_->position();
      return bound;
    } else if constexpr (kSameBytes) {
      // If T is unsigned, its order differs from that of P, so decoder_ cannot search. The values
      // of the page are searched instead, if decoder_ can lend them.
      CFILE_RETURN_IF_ERROR(SeekTo(0));
      const std::span<const T> values = Borrow(this->count_);
      if (values.size() == this->count_) {
        const LowerBound bound = this->SeekToKeyInPlace(key, [&](uint32_t i) { return values[i]; });
        CFILE_RETURN_IF_ERROR(SeekTo(bound.position));
        return bound;
      }
    }
    return SeekToKeyByReading<T>(*this, key);
  }
  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    auto index = decoder_->BuildSeekIndex();
    this->position_ = decoder_->position();
    return index;
  }

 private:
  // True if T and P are integers of the same width: then no conversion is needed.
  static constexpr bool kSameBytes = sizeof(T) == sizeof(P) && kIsInteger<T> && kIsInteger<P>;

  static T Convert(const P& value) {
    if constexpr (std::is_same_v<T, int128_t>) {
      uint128_t bits = 0;
      for (const char byte : value) bits = bits << 8 | static_cast<uint8_t>(byte);
      return static_cast<T>(bits);
    } else if constexpr (std::is_same_v<T, Int96>) {
      return LoadLittleEndian<T>(AsBytes(value).data());
    } else {
      return static_cast<T>(value);
    }
  }

  const std::unique_ptr<BlockDecoder<P>> decoder_;
};

// Base class of the codec struct of a page encoding. It implements MakeEncoder and MakeDecoder for
// the registry. `Codec`, the derived struct, must have the CFILE_PAGE_CODEC_FUNCTIONS for each
// value type P that it supports. In their options, type_length is 0 unless the values are
// FIXED_LEN_BYTE_ARRAY.
template <typename Codec>
struct PageCodec : CodecDefaults {
  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,
                                                      const EncoderOptions& options) {
    EncoderOptions of_page = options;
    of_page.type_length = PageTypeLength<T>(type, options.type_length);
    return std::make_unique<PageBlockEncoder<T>>(
        Codec::template MakePageEncoder<PageType<T>>(of_page), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options) {
    DecoderOptions of_page = options;
    of_page.type_length = PageTypeLength<T>(type, options.type_length);
    auto decoder = Codec::template MakePageDecoder<PageType<T>>(of_page);
    if constexpr (std::is_same_v<T, PageType<T>>) {
      return decoder;  // one of Parquet's own types
    } else {
      return std::make_unique<PageBlockDecoder<T>>(std::move(decoder));
    }
  }
};

// Declares the functions that the codec struct of every page encoding must define (PageCodec).
#define CFILE_PAGE_CODEC_FUNCTIONS                                                             \
  template <typename P>                                                                        \
  static std::unique_ptr<PageEncoder<P>> MakePageEncoder(const EncoderOptions& options = {});  \
  template <typename P>                                                                        \
  static std::unique_ptr<BlockDecoder<P>> MakePageDecoder(const DecoderOptions& options = {}); \
  CFILE_CODEC_DESCRIBE

// Instantiate MakePageEncoder or MakePageDecoder of `Codec` for P.
#define CFILE_INSTANTIATE_PAGE_ENCODER(Codec, P) \
  template std::unique_ptr<PageEncoder<P>> Codec::MakePageEncoder<P>(const EncoderOptions&);
#define CFILE_INSTANTIATE_PAGE_DECODER(Codec, P) \
  template std::unique_ptr<BlockDecoder<P>> Codec::MakePageDecoder<P>(const DecoderOptions&);

}  // namespace cfile::encodings
