#include "encodings/own/fsst.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/fsst.h"
#include "encodings/own/fsst_layout.h"
#include "encodings/own/fsst_separate_encoder.h"

namespace cfile::encodings {
namespace {

// The table is made from pieces of the first block's text: an eighth of the text, but at least
// kLeastSampleBytes and at most kMostSampleBytes if there are so many. A larger sample makes blocks
// hardly smaller, but takes longer.
constexpr size_t kLeastSampleBytes = 4 * 1024;
constexpr size_t kMostSampleBytes = 48 * 1024;
constexpr size_t kPieceBytes = 512;

// The bytes of a group besides packed sizes and text: its offset, two widths and three vints, at
// most and usually.
constexpr size_t kMostGroupBytes = 4 + 2 + 3 * kMaxVint32Bytes;
constexpr size_t kUsualGroupBytes = 4 + 2 + 3;
// The most bytes of the number of symbols.
constexpr size_t kMaxCountBytes = 2;
// Values can be stored one by one (form 2) only if this makes the text at most kMostWhole times as
// long as front coding does. Front coding pays if it makes some groups, which are tried, smaller
// than kFrontCodedTo percent.
constexpr size_t kMostWhole = 2;
constexpr size_t kFrontCodedTo = 95;
constexpr uint32_t kTriedGroups = 16;
// The bytes of a block besides its groups and the common prefix.
constexpr size_t kHeaderBytes = 1 + kMaxVint32Bytes;

// Copies the last `size` bytes of `value`, without a function call if they are few. May write up to
// 8 bytes more.
void CopySuffix(std::string_view value, size_t size, uint8_t* to) {
  const uint8_t* const end = AsBytes(value).data() + value.size();
  if (size <= 8 && size > 0 && value.size() >= 8) {
    StoreLittleEndian(LoadLittleEndian<uint64_t>(end - 8) >> (64 - 8 * size), to);
  } else if (size > 8 && size <= 16) {
    std::memcpy(to, end - size, 8);
    std::memcpy(to + size - 8, end - 8, 8);
  } else if (size > 16 && size <= 32) {
    std::memcpy(to, end - size, 16);
    std::memcpy(to + size - 16, end - 16, 16);
  } else if (size > 0) {
    std::memcpy(to, end - size, size);
  }
}

// Returns the first symbols of a table, which save most: as many as the limits allow.
SymbolTable WithinLimits(const SymbolTable& table, size_t max_symbols, size_t max_bytes) {
  SymbolTable kept;
  size_t bytes = kMaxCountBytes;
  for (uint32_t code = 0; code < table.count; ++code) {
    bytes += sizeof(uint32_t) + table.sizes[code];
    if (kept.count == max_symbols || bytes > max_bytes) break;
    kept.Add(table.symbols[code], table.sizes[code]);
  }
  return kept;
}

class FsstEncoder final : public BlockEncoder<std::string_view> {
 public:
  explicit FsstEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes),
        max_block_size_bytes_(options.max_block_size_bytes),
        max_symbols_(options.max_dictionary_values),
        max_table_bytes_(options.max_dictionary_bytes) {}

  size_t Append(std::span<const std::string_view> values) override {
    std::string_view previous = previous_;
    size_t taken = 0;
    for (; taken < values.size() && !full(); ++taken) {
      const std::string_view value = values[taken];
      if (count_ > 0 && MostBytes(value.size()) > max_block_size_bytes_) {
        has_room_ = false;
        break;
      }
      size_t shared = count_ == 0 ? value.size() : CommonPrefix(previous, value);
      ascends_ = count_ == 0 || (ascends_ && Ascends(previous, value, shared));
      whole_bytes_ += value.size();
      longest_ = std::max(longest_, value.size());
      common_ = count_ == 0 ? shared : std::min(common_, shared);
      if (count_ % kFsstGroupValues == 0) {
        // The text of a group begins with its whole first value: how much of it belongs to the
        // common prefix is known only at the end.
        shared = 0;
        group_texts_.push_back(text_.size());
      }
      Add(value, shared);
      previous = value;
    }
    if (taken > 0) previous_.assign(previous);
    return taken;
  }

  bool full() const override {
    return count_ > 0 && (size_bytes() > block_size_bytes_ || !has_room_);
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override {
    // The first value of each group has the common prefix in text_.
    const size_t groups = group_texts_.size();
    const size_t text = text_.size() - groups * common_;
    return kHeaderBytes + common_ + groups * kUsualGroupBytes + count_ +
           static_cast<size_t>(uint64_t{text} * text_ratio_ / kWhole);
  }
  size_t retained_bytes() const override {
    return (shared_.capacity() + suffixes_.capacity()) * sizeof(uint32_t) +
           (compressor_ ? SymbolCompressor::kMemoryBytes : 0);
  }

  void Finish(uint64_t /*first_ordinal*/, EncodedBlock& block) override {
    block.Clear();
    block.count = count_;
    if (count_ > 0) {
      group_texts_.push_back(text_.size());
      const FsstForm form = ChooseForm();
      PutBlock(form, block.bytes);
      if (form == FsstForm::kSeparate && block.bytes.size() > max_block_size_bytes_) {
        block.bytes.Clear();
        PutBlock(FsstForm::kFrontCoded, block.bytes);
      }
    }
    text_.Clear();
    group_texts_.clear();
    previous_.clear();
    count_ = 0;
    whole_bytes_ = 0;
    longest_ = 0;
    common_ = 0;
    has_room_ = true;
  }

  bool FinishDictionary(ByteWriter& out) override {
    if (!compressor_) return false;
    // In the form of the dictionary of RLE_DICTIONARY: PLAIN values after their number.
    out.PutVint(table_.count);
    for (uint32_t code = 0; code < table_.count; ++code) {
      uint8_t bytes[kMaxSymbolBytes];
      StoreLittleEndian(table_.symbols[code], bytes);
      out.PutFixed(uint32_t{table_.sizes[code]});
      out.PutBytes({bytes, table_.sizes[code]});
    }
    return true;
  }

 private:
  // A block with a larger value has form 1: in form 2, the encoder would need several times the
  // memory of a group.
  static constexpr size_t kMostSeparateValue = size_t{1} << 20;
  // text_ratio_ is a fraction of this number.
  static constexpr uint64_t kWhole = 256;

  // True if `value` is not less than `previous`, which shares its first `shared` bytes.
  static bool Ascends(std::string_view previous, std::string_view value, size_t shared) {
    return shared == previous.size() ||
           (shared < value.size() && AsBytes(previous)[shared] < AsBytes(value)[shared]);
  }

  // The most bytes that the block takes with one more value of `size` bytes, in form 1.
  size_t MostBytes(size_t size) const {
    return kHeaderBytes + text_.size() + size + (count_ + 1) * 2 * sizeof(uint32_t) +
           (group_texts_.size() + 1) * kMostGroupBytes;
  }

  void Add(std::string_view value, size_t shared) {
    CFILE_ASSERT(value.size() <= UINT32_MAX);
    const size_t size = value.size() - shared;
    const size_t begin = text_.size();
    CopySuffix(value, size, text_.Extend(size + 8));
    text_.Truncate(begin + size);
    if (count_ == shared_.size()) {
      shared_.resize(std::max<size_t>(1024, 2 * shared_.size()));
      suffixes_.resize(shared_.size());
    }
    shared_[count_] = static_cast<uint32_t>(shared);
    suffixes_[count_] = static_cast<uint32_t>(size);
    ++count_;
  }

  // The text of a group, without the common prefix.
  std::string_view GroupText(size_t group) const {
    const size_t begin = group_texts_[group] + common_;
    return text_.view().substr(begin, group_texts_[group + 1] - begin);
  }

  // Sets values_ and sizes_ to the values of a group without the common prefix.
  void BuildValues(uint32_t group) {
    const size_t first = size_t{group} * kFsstGroupValues;
    const uint8_t* suffix = text_.data() + group_texts_[group] + common_;
    values_.Clear();
    sizes_.clear();
    for (size_t i = first; i < first + FsstGroupCount(count_, group); ++i) {
      const size_t shared = sizes_.empty() ? 0 : shared_[i] - common_;
      const size_t size = sizes_.empty() ? suffixes_[i] - common_ : suffixes_[i];
      const size_t previous = sizes_.empty() ? 0 : sizes_.back();
      uint8_t* const to = values_.Extend(shared + size);
      if (shared > 0) std::memcpy(to, to - previous, shared);
      if (size > 0) std::memcpy(to + shared, suffix, size);
      suffix += size;
      sizes_.push_back(static_cast<uint32_t>(shared + size));
    }
  }

  // Returns the text of the block as the form stores it, without compression.
  size_t TextBytes(FsstForm form) const {
    const size_t groups = group_texts_.size() - 1;
    return form == FsstForm::kSeparate ? whole_bytes_ - count_ * common_
                                       : text_.size() - groups * common_;
  }

  // Makes the table for texts of this form.
  void Train(FsstForm form) {
    const TrainingSample sample = Sample(form);
    table_ = WithinLimits(TrainSymbols(sample.text, sample.sizes), max_symbols_, max_table_bytes_);
    compressor_.emplace(table_);
  }

  // Returns the form of the block, and makes the table if there is none.
  FsstForm ChooseForm() {
    const bool first = !compressor_;
    const bool separate =
        !ascends_ && longest_ <= kMostSeparateValue &&
        TextBytes(FsstForm::kSeparate) < kMostWhole * TextBytes(FsstForm::kFrontCoded);
    if (first) Train(separate ? FsstForm::kSeparate : FsstForm::kFrontCoded);
    if (!separate) return FsstForm::kFrontCoded;
    if (!FrontCodingPays()) return FsstForm::kSeparate;
    if (first) Train(FsstForm::kFrontCoded);
    return FsstForm::kFrontCoded;
  }

  bool FrontCodingPays() {
    const auto groups = static_cast<uint32_t>(group_texts_.size() - 1);
    ByteWriter front_coded, separate;
    for (uint32_t i = 0; i < std::min(groups, kTriedGroups); ++i) {
      const auto group =
          static_cast<uint32_t>(uint64_t{i} * groups / std::min(groups, kTriedGroups));
      CompressTwoGroups(group, group + 1);
      PutGroup(group, codes_[0].span(), front_coded);
      PutSeparateGroup(group, separate);
    }
    return 100 * front_coded.size() < kFrontCodedTo * separate.size();
  }

  size_t PutSeparateGroup(uint32_t group, ByteWriter& out) {
    BuildValues(group);
    return separate_writer_.Put(*compressor_, values_.view(), sizes_, out);
  }

  // Pieces of the texts of groups that are spread over the block. In form 2, `sizes` are the sizes
  // of the values, or of their first bytes.
  struct TrainingSample {
    std::string text;
    std::vector<uint32_t> sizes;
  };
  TrainingSample Sample(FsstForm form) {
    const auto groups = static_cast<uint32_t>(group_texts_.size() - 1);
    const size_t text = TextBytes(form);
    const size_t wanted = std::min(text, std::clamp(text / 8, kLeastSampleBytes, kMostSampleBytes));
    TrainingSample sample;
    size_t due = 0;  // bytes of text that should be in the sample by now, times `text`
    for (uint32_t group = 0; group < groups; ++group) {
      if (form == FsstForm::kSeparate) BuildValues(group);
      const std::string_view whole =
          form == FsstForm::kSeparate ? values_.view() : GroupText(group);
      due += wanted * whole.size();
      if (sample.text.size() * text >= due) continue;
      const size_t piece = wanted == text ? whole.size() : kPieceBytes;
      if (form == FsstForm::kFrontCoded) {
        sample.text += whole.substr(0, piece);
        continue;
      }
      const size_t end = sample.text.size() + piece;
      for (size_t i = 0, begin = 0; i < sizes_.size() && sample.text.size() < end; ++i) {
        const size_t size = std::min<size_t>(sizes_[i], piece);
        sample.text += whole.substr(begin, size);
        sample.sizes.push_back(static_cast<uint32_t>(size));
        begin += sizes_[i];
      }
    }
    return sample;
  }

  void PutBlock(FsstForm form, ByteWriter& out) {
    const auto groups = static_cast<uint32_t>(group_texts_.size() - 1);
    out.PutFixed(form);
    out.PutVint(common_);
    out.PutBytes(text_.view().substr(0, common_));
    const size_t offsets = out.size();
    out.Extend(groups * sizeof(uint32_t));
    size_t stored = 0;
    for (uint32_t group = 0; group < groups; ++group) {
      StoreLittleEndian(static_cast<uint32_t>(out.size()),
                        out.data() + offsets + group * sizeof(uint32_t));
      if (form == FsstForm::kSeparate) {
        stored += PutSeparateGroup(group, out);
      } else {
        if (group % 2 == 0) CompressTwoGroups(group, groups);
        stored += PutGroup(group, codes_[group % 2].span(), out);
      }
    }
    const size_t text = TextBytes(FsstForm::kFrontCoded);
    if (text > 0) text_ratio_ = (stored * kWhole + text - 1) / text;
  }

  // Sets codes_ to the codes of the texts of a group and of the group after it, if there is one.
  void CompressTwoGroups(uint32_t group, uint32_t groups) {
    const std::string_view texts[2] = {GroupText(group),
                                       group + 1 < groups ? GroupText(group + 1) : ""};
    uint8_t* ends[2];
    for (size_t i = 0; i < 2; ++i) {
      codes_[i].Clear();
      ends[i] = codes_[i].Extend(SymbolCompressor::WorstBytes(texts[i].size()));
    }
    compressor_->CompressTwo(texts, ends);
    for (size_t i = 0; i < 2; ++i)
      codes_[i].Truncate(static_cast<size_t>(ends[i] - codes_[i].data()));
  }

  // Appends a group, whose text has these codes. Returns the stored bytes of its text.
  size_t PutGroup(uint32_t group, std::span<const uint8_t> codes, ByteWriter& out) {
    const size_t first = size_t{group} * kFsstGroupValues;
    const size_t others = FsstGroupCount(count_, group) - 1;
    uint32_t group_shared[kFsstGroupValues], group_suffixes[kFsstGroupValues];
    std::copy_n(shared_.begin() + static_cast<ptrdiff_t>(first) + 1, others, group_shared);
    std::copy_n(suffixes_.begin() + static_cast<ptrdiff_t>(first) + 1, others, group_suffixes);
    const std::span<uint32_t> shared(group_shared, others);
    const std::span<uint32_t> suffixes(group_suffixes, others);
    const auto take_least = [](std::span<uint32_t> sizes, uint32_t& least) {
      if (sizes.empty()) return 0;
      const auto [min, max] = std::minmax_element(sizes.begin(), sizes.end());
      const uint32_t found = *min;
      const int width = std::bit_width(*max - found);
      for (uint32_t& size : sizes) size -= found;
      least = found;
      return width;
    };
    uint32_t least_shared = 0, least_suffix = 0;
    const int shared_width = take_least(shared, least_shared);
    const int suffix_width = take_least(suffixes, least_suffix);
    const size_t begin = out.size();
    out.PutFixed(static_cast<uint8_t>(shared_width));
    out.PutFixed(static_cast<uint8_t>(suffix_width));
    out.PutVint(suffixes_[first] - common_);
    out.PutVint(others == 0 ? 0 : least_shared - common_);
    out.PutVint(least_suffix);
    PackBits<uint32_t>(shared, shared_width, out);
    PackBits<uint32_t>(suffixes, suffix_width, out);
    const std::string_view text = GroupText(group);
    if (codes.size() >= text.size()) {
      out.PutBytes(text);
      return text.size();
    }
    out.data()[begin] |= kFsstCodes;
    out.PutBytes(codes);
    return codes.size();
  }

  const size_t block_size_bytes_;
  const size_t max_block_size_bytes_;
  const size_t max_symbols_;
  const size_t max_table_bytes_;
  SymbolTable table_;
  std::optional<SymbolCompressor> compressor_;  // once table_ is made
  // What remains of the front-coded text, compressed: as in the last block. At first, a guess.
  uint64_t text_ratio_ = kWhole * 5 / 8;

  // The current block: the sizes of all values, shared with the value before and not shared, and
  // the bytes that are not shared. Where the text of each group begins.
  ByteWriter text_;
  std::vector<uint32_t> shared_;
  std::vector<uint32_t> suffixes_;
  std::vector<size_t> group_texts_;
  ByteWriter codes_[2];  // of a group with an even number, and of the next group
  ByteWriter values_;    // the result of BuildValues, with the sizes of the values
  std::vector<uint32_t> sizes_;
  FsstSeparateGroupWriter separate_writer_;
  std::string previous_;  // the last value of the previous Append
  size_t common_ = 0;     // the size of the prefix that all values share
  uint32_t count_ = 0;
  size_t whole_bytes_ = 0;  // of all values
  size_t longest_ = 0;      // the size of the largest value
  bool ascends_ = true;     // no value is less than the value before
  bool has_room_ = true;    // false: the next value does not fit into this block
};

}  // namespace

std::unique_ptr<BlockEncoder<std::string_view>> FsstCodec::MakeBytesEncoder(
    const EncoderOptions& options) {
  return std::make_unique<FsstEncoder>(options);
}

}  // namespace cfile::encodings
