// The decoder and the description of COMPACT.
#include "encodings/own/compact.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/seek_by_reading.h"
#include "encodings/core/status.h"
#include "encodings/kernels/ans.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/compact_kernels.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/compact_layout.h"

namespace cfile::encodings {
namespace {

template <typename T>
class CompactDecoder final : public BlockDecoder<T> {
 public:
  using U = CompactNumber<T>;

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    this->first_ordinal_ = block.first_ordinal;
    held_ = kNone;
    CFILE_RETURN_IF_ERROR(ReadHead(block));
    this->count_ = block.count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t wanted = this->Left(out.size());
    uint32_t position = this->position_;
    for (size_t done = 0; done < wanted;) {
      const uint32_t page = position / kValues;
      const uint32_t first = position % kValues;
      const uint32_t count = std::min(kValues, this->count_ - page * kValues);
      const auto taken = static_cast<uint32_t>(std::min<size_t>(count - first, wanted - done));
      if (taken == kValues) {
        CFILE_RETURN_IF_ERROR(Decode(page, out.data() + done));
      } else {
        if (page != held_) {
          held_ = kNone;
          CFILE_RETURN_IF_ERROR(Decode(page, values_.data()));
          held_ = page;
        }
        std::copy_n(values_.data() + first, taken, out.data() + done);
      }
      done += taken;
      position += taken;
    }
    this->position_ = position;
    return wanted;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    return SeekToKeyByReading<T>(*this, key);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kValues = kVectorValues;

  // Reads and checks the bytes before the pages.
  absl::Status ReadHead(const BlockView& block) {
    ByteReader reader(block.bytes);
    if (block.count == 0) {
      if (reader.empty()) return absl::OkStatus();
      return DataLoss("compact: a block without values has ", reader.remaining(),
                      " bytes, expected 0");
    }
    uint8_t head[kCompactHeadBytes];
    for (uint8_t& byte : head) {
      if (!reader.ReadFixed(byte)) return CutOff();
    }
    form_ = {};
    if (!form_.SetFlags(head[0])) {
      return DataLoss("compact: byte 0: ", int{head[0]}, " is no transformation of this type");
    }
    const size_t bins = size_t{head[2]} + 1;
    log_ = head[1];
    if (bins == 1 ? log_ != 0 : log_ < kMinAnsLog || log_ > kMaxAnsLog) {
      return DataLoss("compact: byte 1: ", bins, " bins and 2^", log_, " states, expected ",
                      bins == 1 ? "2^0 states" : "2^4 to 2^12 states");
    }
    form_.power = head[3];
    if (form_.power > (form_.decimals ? kMaxDecimals<T> : 0)) {
      return DataLoss("compact: byte 3: ", form_.power, " decimals, expected at most ",
                      form_.decimals ? kMaxDecimals<T> : 0);
    }
    if (form_.line && !reader.ReadFixed(form_.slope)) return CutOff();
    if (form_.multiples && !(reader.ReadFixed(form_.factor) && reader.ReadFixed(form_.addend)))
      return CutOff();
    CFILE_RETURN_IF_ERROR(ReadBins(bins, reader));
    pages_at_ = reader.offset();
    const uint64_t table_bytes = uint64_t{VectorsOf(block.count)} * sizeof(uint32_t);
    if (table_bytes > reader.remaining()) {
      return DataLoss("compact: the offsets of ", VectorsOf(block.count), " pages take ",
                      table_bytes, " bytes, found ", reader.remaining());
    }
    bytes_ = block.bytes;
    return absl::OkStatus();
  }

  absl::Status ReadBins(size_t bins, ByteReader& reader) {
    std::array<uint16_t, kMaxBins> weights;
    uint32_t sum = 0;
    table_.most_width = 0;
    same_width_ = true;
    for (size_t i = 0; i < bins; ++i) {
      weights[i] = 1;
      if (!reader.ReadFixed(table_.lowers[i]) || !reader.ReadFixed(table_.widths[i]) ||
          (bins > 1 && !reader.ReadFixed(weights[i]))) {
        return CutOff();
      }
      if (table_.widths[i] > 8 * sizeof(U)) {
        return DataLoss("compact: bin ", i, " has a width of ", int{table_.widths[i]},
                        " bits, expected at most ", 8 * sizeof(U));
      }
      if (weights[i] == 0) return DataLoss("compact: bin ", i, " has the weight 0");
      sum += weights[i];
      same_width_ = same_width_ && table_.widths[i] == table_.widths[0];
      table_.most_width = std::max(table_.most_width, table_.widths[i]);
    }
    if (sum != uint32_t{1} << log_) {
      return DataLoss("compact: the weights of the bins add up to ", sum, ", expected ",
                      uint32_t{1} << log_);
    }
    if (bins == 1) {
      std::memset(bins_.data(), 0, bins_.size());
    } else {
      codes_.Build({weights.data(), bins}, log_);
    }
    return absl::OkStatus();
  }

  static absl::Status CutOff() { return DataLoss("compact: the block ends before its pages"); }

  uint32_t PageOffset(uint32_t page) const {
    return LoadLittleEndian<uint32_t>(bytes_.data() + pages_at_ + size_t{page} * sizeof(uint32_t));
  }

  absl::Status Decode(uint32_t page, T* out) {
    const uint32_t pages = VectorsOf(this->count_);
    const uint32_t count = std::min(kValues, this->count_ - page * kValues);
    const uint64_t least = pages_at_ + uint64_t{pages} * sizeof(uint32_t);
    const uint64_t begin = PageOffset(page);
    const uint64_t end = page + 1 == pages ? bytes_.size() : PageOffset(page + 1);
    const auto damaged = [&](const auto&... parts) {
      return DataLoss("compact: page ", page, " at byte ", begin, ": ", parts...);
    };
    if ((page == 0 ? begin != least : begin < least) || end > bytes_.size() || begin > end)
      return damaged("it ends at byte ", end, " of ", bytes_.size(),
                     ", and the pages begin at byte ", least);
    ByteReader reader(bytes_.subspan(begin, end - begin));
    U sums[kMaxOrder] = {};
    uint16_t exceptions = 0;
    uint16_t codes_bytes = 0;
    bool whole = true;
    // A form has at most kMaxOrder sums. std::min tells this to GCC, which otherwise warns.
    for (size_t i = 0; i < std::min<size_t>(form_.sums(), kMaxOrder); ++i)
      whole = whole && reader.ReadFixed(sums[i]);
    if (form_.decimals) whole = whole && reader.ReadFixed(exceptions);
    if (log_ > 0) whole = whole && reader.ReadFixed(codes_bytes);
    if (!whole || reader.remaining() < codes_bytes) return damaged("its codes are cut off");
    if (exceptions > count) return damaged(exceptions, " exceptions among ", count, " values");
    std::span<const uint8_t> rest = reader.rest();
    if (log_ > 0) {
      if (!codes_.Decode(rest.first(codes_bytes), bins_.data(), count))
        return damaged("its ", codes_bytes, " bytes are not the codes of ", count, " values");
      rest = rest.subspan(codes_bytes);
    }
    const size_t exceptions_bytes = exceptions * (sizeof(uint16_t) + sizeof(T));
    if (rest.size() < exceptions_bytes) return damaged("its exceptions are cut off");
    const auto packed = rest.first(rest.size() - exceptions_bytes);
    U* const numbers = NumbersOf(out);
    const size_t bits = UnpackNumbers(packed, count, sums, numbers);
    if (PackedBytes(bits, 1) != packed.size()) {
      return damaged("its offsets take ", PackedBytes(bits, 1), " bytes, found ", packed.size());
    }
    Restore(sums[0], count, numbers, out);
    return PutExceptions(page, exceptions, count, rest.last(exceptions_bytes), out);
  }

  // Returns where the numbers of a page are decoded. Integers are decoded in the place of the
  // values.
  U* NumbersOf(T* out) {
    if constexpr (kIsFloat<T>) {
      return numbers_.data();
    } else {
      return reinterpret_cast<U*>(out);
    }
  }

  // Unpacks the numbers of a page, and replaces differences by the numbers from which they were
  // taken. Returns the number of bits of the packed offsets. The numbers are arbitrary if `packed`
  // has another size.
  size_t UnpackNumbers(std::span<const uint8_t> packed, uint32_t count, const U* sums, U* numbers) {
    const U lower = table_.lowers[0];
    const int width = table_.widths[0];
    size_t bits = size_t{count} * static_cast<size_t>(width);
    if (same_width_ && PackedBytes(bits, 1) != packed.size()) return bits;
    int order = form_.order;
    if (!same_width_) {
      // UnpackOffsets may read `most` bytes. If there are fewer bytes up to the end of the block, a
      // copy of the offsets is unpacked.
      const uint8_t* from = packed.data();
      const size_t most = PackedBytes(count, table_.most_width) + kOffsetReadAhead;
      if (static_cast<size_t>(bytes_.data() + bytes_.size() - from) < most) {
        if (packed.size() > most) return size_t{count} * table_.most_width;
        std::memcpy(last_.data(), from, packed.size());
        std::memset(last_.data() + packed.size(), 0, most - packed.size());
        from = last_.data();
      }
      bits = UnpackOffsets<U>(table_, bins_.data(), from, numbers, count);
    } else if (width == 0 && order > 0) {
      --order;
      SumUpLowers<U>(table_, bins_.data(), sums[order], numbers, count);
    } else if (width == 0) {
      LookUpLowers<U>(table_, bins_.data(), numbers, count);
    } else if (count == kVectorValues && log_ == 0 && order > 0) {
      --order;
      UnpackDeltas<U>(packed.data(), width, static_cast<U>(sums[order] + lower), lower, numbers);
    } else if (count == kVectorValues && log_ == 0) {
      UnpackInterleaved<U>(packed.data(), width, lower, numbers);
    } else {
      if (count == kVectorValues) {
        UnpackInterleaved<U>(packed.data(), width, 0, numbers);
      } else {
        UnpackBits<U>(packed, width, 0, numbers, count);
      }
      AddLowers<U>(table_, bins_.data(), numbers, count);
    }
    while (order-- > 0) SumUp<U>(sums[order], numbers, count);
    return bits;
  }

  // Converts numbers to values. `first`: the begin of the line of the page, if there is a line.
  void Restore(U first, uint32_t count, U* numbers, T* out) const {
    if (form_.line) AddLine<U>(first, form_.slope, numbers, count);
    if (form_.multiples) MultiplyAdd<U>(form_.factor, form_.addend, numbers, count);
    if constexpr (kIsFloat<T>) {
      if (form_.decimals) {
        DivideIntegers<T>(numbers, PowerOfTen<T>(form_.power), out, count);
      } else {
        OrderToFloats<T>(numbers, out, count);
      }
    }
  }

  // Replaces the values of the exceptions. `bytes`: the positions of the exceptions, and then their
  // values.
  absl::Status PutExceptions(uint32_t page, uint32_t exceptions, uint32_t count,
                             std::span<const uint8_t> bytes, T* out) const {
    int before = -1;
    for (uint32_t i = 0; i < exceptions; ++i) {
      const uint16_t position = LoadLittleEndian<uint16_t>(bytes.data() + i * sizeof(uint16_t));
      if (position <= before || position >= count) {
        return DataLoss("compact: page ", page, ": exception ", i, " is at value ", position,
                        ", expected ", before + 1, " to ", count - 1);
      }
      before = position;
      out[position] =
          LoadLittleEndian<T>(bytes.data() + exceptions * sizeof(uint16_t) + i * sizeof(T));
    }
    return absl::OkStatus();
  }

  std::span<const uint8_t> bytes_;
  size_t pages_at_ = 0;  // the byte of the block at which the offsets of the pages begin
  Transformation<T> form_;
  int log_ = 0;  // 0: there is one bin, and no codes
  BinTable<U> table_;
  bool same_width_ = true;  // all bins have the same width
  AnsDecoder codes_;
  uint32_t held_ = kNone;  // the page whose values are in values_; kNone: no page
  std::array<T, kVectorValues> values_;
  std::array<uint8_t, kVectorValues> bins_;  // the bin of each number of a page
  std::array<U, kVectorValues> numbers_;     // only for floats: the numbers of a page
  // A copy of packed offsets that are too close to the end of the block for UnpackOffsets.
  std::array<uint8_t, kVectorValues * sizeof(U) + kOffsetReadAhead> last_ = {};
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> CompactCodec::MakeDecoder(PhysicalType /*type*/,
                                                           const DecoderOptions& /*options*/) {
  return std::make_unique<CompactDecoder<T>>();
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_DECODER(CompactCodec, T)
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

namespace {

// Adds the fields of a page. `end`: the byte of the block after the page.
template <typename T>
absl::Status DescribePage(const Transformation<T>& form, bool has_codes, uint32_t page, size_t end,
                          BlockDescription& description) {
  const std::string_view sum = form.line ? "begin of the line" : "sum";
  for (size_t i = 0; i < form.sums(); ++i)
    CFILE_RETURN_IF_ERROR(description.AddFixed<CompactNumber<T>>(sum).status());
  if (form.decimals) CFILE_RETURN_IF_ERROR(description.AddFixed<uint16_t>("exceptions").status());
  if (has_codes) {
    CFILE_ASSIGN_OR_RETURN(const uint16_t bytes,
                           description.AddFixed<uint16_t>("size of the codes"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(bytes, "codes of the bins", StrCat("page ", page)));
  }
  const size_t at = description.reader().offset();
  if (at > end) return DataLoss("page ", page, " ends at byte ", end, ", expected at least ", at);
  return description.AddBytes(end - at, form.decimals ? "offsets and exceptions" : "offsets");
}

template <typename T>
absl::Status DescribeCompact(const BlockView& block, BlockDescription& description) {
  using U = CompactNumber<T>;
  if (block.count == 0) return absl::OkStatus();
  Transformation<T> form;
  CFILE_ASSIGN_OR_RETURN(const uint32_t flags, description.AddByte("transformation"));
  if (!form.SetFlags(static_cast<uint8_t>(flags))) return DataLoss(flags, " is no transformation");
  CFILE_RETURN_IF_ERROR(description.AddByte("log of the number of states").status());
  CFILE_ASSIGN_OR_RETURN(const uint32_t last_bin, description.AddByte("bins - 1"));
  CFILE_RETURN_IF_ERROR(description.AddByte("decimals").status());
  if (form.line) CFILE_RETURN_IF_ERROR(description.AddFixed<U>("slope").status());
  if (form.multiples) {
    CFILE_RETURN_IF_ERROR(description.AddFixed<U>("factor").status());
    CFILE_RETURN_IF_ERROR(description.AddFixed<U>("addend").status());
  }
  const bool has_codes = last_bin > 0;
  const size_t bin_bytes = sizeof(U) + 1 + (has_codes ? sizeof(uint16_t) : 0);
  uint32_t bin = 0;
  for (; bin <= last_bin && !description.full(); ++bin) {
    CFILE_RETURN_IF_ERROR(description.AddFixed<U>("lower bound of a bin").status());
    description.BeginStructure();
    CFILE_RETURN_IF_ERROR(description.AddByte("width").status());
    if (has_codes) CFILE_RETURN_IF_ERROR(description.AddFixed<uint16_t>("weight").status());
    description.EndStructure();
  }
  CFILE_RETURN_IF_ERROR(description.AddBytes((last_bin + 1 - bin) * bin_bytes, "further bins"));
  const uint32_t pages = VectorsOf(block.count);
  const std::span<const uint8_t> table = description.reader().rest();
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(pages, "offsets of the pages"));
  for (uint32_t page = 0; page < pages; ++page) {
    if (description.full()) {
      description.AddRest("further pages");
      break;
    }
    const size_t end =
        page + 1 == pages
            ? block.bytes.size()
            : LoadLittleEndian<uint32_t>(table.data() + (page + 1) * sizeof(uint32_t));
    CFILE_RETURN_IF_ERROR(DescribePage(form, has_codes, page, end, description));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompactCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                    const BlockView& block, BlockDescription& description) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr ((kIsInteger<T> && sizeof(T) <= 8) || kIsFloat<T>) {
      return DescribeCompact<T>(block, description);
    } else {
      CFILE_ASSERT(false && "not a type of COMPACT");
      return absl::OkStatus();
    }
  });
}

}  // namespace cfile::encodings
