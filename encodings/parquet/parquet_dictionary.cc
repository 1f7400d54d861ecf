// The encoder of pages of codes. The decoder is in parquet_dictionary_decoder.cc.
#include "encodings/parquet/parquet_dictionary.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/value_codes.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/parquet_plain.h"

namespace cfile::encodings {
namespace {

// Bytes that a dictionary adds to a file in any case: its number of values, the checksum and size
// of its block, and the pointer to it. The first block with codes must save these bytes too.
constexpr size_t kDictionaryOverhead = 32;

// Returns the encoder to try before PLAIN for a block without codes; null if the type has none.
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeDeltaEncoder(const EncoderOptions& options) {
  if constexpr (kIsBytes<P>) {
    if (options.type_length == 0) return DeltaLengthByteArrayCodec::MakePageEncoder<P>(options);
  } else if constexpr (kIsInteger<P>) {
    return DeltaBinaryPackedCodec::MakePageEncoder<P>(options);
  }
  return nullptr;
}
template <typename P>
constexpr Encoding kDeltaEncoding =
    kIsBytes<P> ? Encoding::kParquetDeltaLengthByteArray : Encoding::kParquetDeltaBinaryPacked;

template <typename P>
class DictionaryEncoder final : public PageEncoder<P> {
 public:
  explicit DictionaryEncoder(const EncoderOptions& options)
      : type_length_(options.type_length),
        plain_(ParquetPlainCodec::MakePageEncoder<P>(options)),
        delta_(MakeDeltaEncoder<P>(options)),
        codes_(kIsBytes<P> && options.type_length == 0 ? sizeof(uint32_t) : 0,
               std::min<size_t>(options.max_dictionary_bytes, UINT32_MAX - 1),
               options.max_dictionary_values),
        most_adopted_bytes_(MostAdoptedBytes(options)) {}

  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if (values.empty()) {  // a page without values needs no dictionary
      block.bytes.PutFixed<uint8_t>(0);
      return;
    }
    const uint32_t known = codes_.size();
    const size_t begin = block.bytes.size();
    if (PutCodes(values, block.bytes)) {
      used_ = true;
      return;
    }
    codes_.Truncate(known);
    block.bytes.Truncate(begin);
    if (delta_ != nullptr) {
      block.encoding = kDeltaEncoding<P>;
      delta_->Encode(values, block);
      if (block.bytes.size() - begin + block.skip_table.size() < PlainBytes(values)) return;
      block.bytes.Truncate(begin);
      block.skip_table.Clear();
      block.pieces.clear();
    }
    block.encoding = Encoding::kParquetPlain;
    plain_->Encode(values, block);
  }

  size_t retained_bytes() const override { return codes_.memory_usage_bytes(); }

  bool AdoptDictionary(const Dictionary& dictionary, std::vector<uint32_t>& codes) override {
    CFILE_ASSERT(dynamic_cast<const ValueDictionary<P>*>(&dictionary) != nullptr);
    const auto& words = static_cast<const ValueDictionary<P>&>(dictionary);
    const size_t most_bytes = codes_.size() == 0 ? most_adopted_bytes_ : 0;
    codes.resize(words.size);
    if (!codes_.Adopt({words.values.get(), words.size}, most_bytes, codes.data())) return false;
    used_ = true;
    uint32_t next = 0;
    if (std::all_of(codes.begin(), codes.end(), [&](uint32_t code) { return code == next++; }))
      codes.clear();
    return true;
  }

  bool FinishDictionary(ByteWriter& out) override {
    if (!used_) return false;
    const uint32_t count = codes_.size();
    const std::unique_ptr<P[]> values(new P[count]);
    for (uint32_t code = 0; code < count; ++code) values[code] = codes_[code];
    EncodedBlock page;
    plain_->Encode({values.get(), count}, page);
    out.PutVint(count);
    out.PutBytes(page.bytes.span());
    return true;
  }

 private:
  static size_t MostAdoptedBytes(const EncoderOptions& options) {
    // The dictionary is a block: its number of values, then the values.
    const size_t bytes = std::min<size_t>(options.max_block_size_bytes, INT32_MAX);
    return bytes - std::min(bytes, kMaxVint64Bytes);
  }

  // Appends the page of codes to `out`. Returns false if codes would not save bytes or a limit of
  // the dictionary is reached; the caller must then remove the codes and bytes that were added.
  bool PutCodes(std::span<const P> values, ByteWriter& out) {
    const size_t plain_bytes = PlainBytes(values);
    const size_t known_bytes = codes_.bytes();  // 0 before the first block with codes
    const size_t overhead = used_ ? 0 : kDictionaryOverhead;
    block_codes_.resize(values.size());
    if (!codes_.CodesOf(values, block_codes_.data())) return false;
    const uint32_t largest = *std::max_element(block_codes_.begin(), block_codes_.end());
    const size_t added = codes_.bytes() - known_bytes + overhead;
    if (added >= plain_bytes) return false;
    const int width = static_cast<int>(std::bit_width(largest));
    const size_t begin = out.size();
    out.PutFixed(static_cast<uint8_t>(width));
    if (width == 0 || width >= 8 || HasLongRun()) {
      RleHybridEncoder hybrid(width, /*kudu_exact=*/false);
      hybrid.PutValues(std::span<const uint32_t>(block_codes_));
      hybrid.Finish(out, LastGroup::kWhole);
    } else {
      // One literal run is smallest. It is written here, because RleHybridEncoder would examine
      // every narrow code to find that out.
      const size_t groups = (values.size() + 7) / 8;
      block_codes_.resize(groups * 8);
      out.PutVint(groups << 1 | 1);
      PackBits(std::span<const uint32_t>(block_codes_), width, out);
    }
    return out.size() - begin + added < plain_bytes;
  }

  // True if there are 8 consecutive equal codes. Four of these begin at a multiple of 4, so only
  // such positions are tested.
  bool HasLongRun() const {
    const std::vector<uint32_t>& codes = block_codes_;
    for (size_t i = 0; i + 4 <= codes.size(); i += 4) {
      const uint32_t code = codes[i];
      if (codes[i + 1] != code || codes[i + 2] != code || codes[i + 3] != code) continue;
      size_t begin = i;
      size_t end = i + 4;
      while (begin > 0 && codes[begin - 1] == code) --begin;
      while (end < codes.size() && codes[end] == code && end - begin < 8) ++end;
      if (end - begin >= 8) return true;
    }
    return false;
  }

  size_t PlainBytes(std::span<const P> values) const {
    if constexpr (std::is_same_v<P, bool>) {
      return (values.size() + 7) / 8;
    } else if constexpr (kIsBytes<P>) {
      if (type_length_ > 0) return values.size() * type_length_;
      size_t bytes = values.size() * sizeof(uint32_t);
      for (const P& value : values) bytes += value.size();
      return bytes;
    } else {
      return values.size_bytes();
    }
  }

  const uint32_t type_length_;
  const std::unique_ptr<PageEncoder<P>> plain_;
  const std::unique_ptr<PageEncoder<P>> delta_;
  ValueCodes<P> codes_;
  const size_t most_adopted_bytes_;
  bool used_ = false;  // true once a block has codes
  std::vector<uint32_t> block_codes_;
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ParquetDictionaryCodec::MakePageEncoder(
    const EncoderOptions& options) {
  return std::make_unique<DictionaryEncoder<P>>(options);
}

#define CFILE_INSTANTIATE(P) CFILE_INSTANTIATE_PAGE_ENCODER(ParquetDictionaryCodec, P)
CFILE_FOR_EACH_PAGE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

absl::Status ParquetDictionaryCodec::CheckWithoutDictionary(BlockView& block) {
  constexpr int kMaxWidth = 32;
  if (block.bytes.empty() || block.bytes[0] > kMaxWidth)
    return DataLoss("the block is not a page of codes");
  RleHybridReader codes(block.bytes.subspan(1), block.bytes[0]);
  uint32_t buffer[1024];
  for (uint32_t left = block.count; left > 0;) {
    const auto some = std::min<uint32_t>(left, std::size(buffer));
    CFILE_RETURN_IF_ERROR(codes.Read(buffer, some));
    left -= some;
  }
  return absl::OkStatus();
}

}  // namespace cfile::encodings
