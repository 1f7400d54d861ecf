#include "encodings/own/fsst.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/front_coding.h"
#include "encodings/kernels/fsst.h"
#include "encodings/own/fsst_layout.h"

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
constexpr size_t kMaxCountBytes = 2;  // of the number of symbols
// Values can be stored one by one (form 2) only if this makes the text at most kMostWhole times as
// long as front coding does. Front coding pays if it makes some groups, which are tried, smaller
// than kFrontCodedTo percent.
constexpr size_t kMostWhole = 2;
constexpr size_t kFrontCodedTo = 95;
constexpr uint32_t kTriedGroups = 16;
// A block with a larger value has form 1: form 2 would need several times the memory of a group.
constexpr size_t kMostSeparateValue = size_t{1} << 20;
constexpr size_t kHeaderBytes = 1 + kMaxVint32Bytes;  // without the common prefix
constexpr uint64_t kWhole = 256;                      // text_ratio_ is a fraction of this number

class FsstEncoder final : public BlockEncoder<std::string_view> {
 public:
  explicit FsstEncoder(const EncoderOptions& options) : options_(options) {}

  size_t Append(std::span<const std::string_view> values) override {
    std::string_view previous = previous_;
    size_t taken = 0;
    for (; taken < values.size() && !full(); ++taken) {
      const std::string_view value = values[taken];
      if (count_ > 0 && MostBytes(value.size()) > options_.max_block_size_bytes) {
        has_room_ = false;
        break;
      }
      size_t shared = count_ == 0 ? value.size() : CommonPrefix(previous, value);
      if (shared < previous.size() &&
          (shared == value.size() || AsBytes(previous)[shared] > AsBytes(value)[shared]))
        ascends_ = false;
      whole_bytes_ += value.size();
      longest_ = std::max(longest_, value.size());
      common_ = count_ == 0 ? shared : std::min(common_, shared);
      if (count_ % kFsstGroupValues == 0) {
        // The text of a group begins with its whole first value: how much of it belongs to the
        // common prefix is known only at the end.
        group_shared_.push_back(shared);
        shared = 0;
        group_texts_.push_back(text_.size());
      }
      CFILE_ASSERT(value.size() <= UINT32_MAX);
      const size_t size = value.size() - shared, begin = text_.size();
      CopySuffix(value, size, text_.Extend(size + 8));
      text_.Truncate(begin + size);
      if (count_ == shared_.size()) {
        shared_.resize(std::max<size_t>(1024, 2 * shared_.size()));
        suffixes_.resize(shared_.size());
      }
      shared_[count_] = static_cast<uint32_t>(shared);
      suffixes_[count_++] = static_cast<uint32_t>(size);
      previous = value;
    }
    if (taken > 0 && !full()) previous_.assign(previous);  // a full block needs no copy
    return taken;
  }

  bool full() const override {
    return count_ > 0 && (size_bytes() > options_.block_size_bytes || !has_room_);
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override {
    return kHeaderBytes + common_ + FsstGroups(count_) * kUsualGroupBytes + count_ +
           TextBytes(FsstForm::kFrontCoded) * text_ratio_ / kWhole;
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
      FsstForm form = ChooseForm();
      PutBlock(form, block.bytes);
      if (form == FsstForm::kSeparate && block.bytes.size() > options_.max_block_size_bytes) {
        block.bytes.Clear();
        form = FsstForm::kFrontCoded;
        PutBlock(form, block.bytes);
      }
      if (form == FsstForm::kFrontCoded && options_.piece_bytes > 0) AddPieces(block);
    }
    text_.Clear();
    group_texts_.clear();
    group_shared_.clear();
    previous_.clear();
    whole_bytes_ = longest_ = common_ = count_ = 0;
    has_room_ = ascends_ = true;
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
  // The most bytes that the block takes with one more value of `size` bytes, in form 1.
  size_t MostBytes(size_t size) const {
    return kHeaderBytes + text_.size() + size + (count_ + 1) * 2 * sizeof(uint32_t) +
           (group_texts_.size() + 1) * kMostGroupBytes;
  }

  // Sets texts_ to texts without the common prefix: those of at most `most` groups from `group` on
  // (form 1), or the values of the group (form 2).
  void BuildTexts(FsstForm form, uint32_t group, size_t most) {
    texts_.clear();
    const char* suffix = text_.view().data() + group_texts_[group] + common_;
    if (form == FsstForm::kFrontCoded) {
      for (size_t i = group; i + 1 < group_texts_.size() && texts_.size() < most; ++i)
        texts_.push_back(
            text_.view().substr(0, group_texts_[i + 1]).substr(group_texts_[i] + common_));
      return;
    }
    const size_t first = size_t{group} * kFsstGroupValues;
    const size_t end = first + FsstGroupCount(count_, group);
    size_t bytes = 0;
    for (size_t i = first; i < end; ++i) bytes += size_t{shared_[i]} + suffixes_[i] - common_;
    values_.Clear();
    uint8_t* to = values_.Extend(bytes);
    for (size_t i = first; i < end; ++i) {
      const size_t shared = i == first ? 0 : shared_[i] - common_;
      const size_t size = i == first ? suffixes_[i] - common_ : suffixes_[i];
      if (shared > 0) std::memcpy(to, texts_.back().data(), shared);
      if (size > 0) std::memcpy(to + shared, suffix, size);
      texts_.push_back(AsString({to, shared + size}));
      to += shared + size;
      suffix += size;
    }
  }

  // Returns the text of the block as the form stores it, without compression. In form 1, text_ has
  // the common prefix before the first value of each group.
  size_t TextBytes(FsstForm form) const {
    return form == FsstForm::kSeparate ? whole_bytes_ - count_ * common_
                                       : text_.size() - FsstGroups(count_) * common_;
  }

  // Returns the form of the block, and makes the table if no block before had text for it.
  FsstForm ChooseForm() {
    const bool first = !trained_;
    if (!ascends_ && longest_ <= kMostSeparateValue &&
        TextBytes(FsstForm::kSeparate) < kMostWhole * TextBytes(FsstForm::kFrontCoded)) {
      if (first) Train(FsstForm::kSeparate);
      if (!FrontCodingPays()) return FsstForm::kSeparate;
    }
    if (first) Train(FsstForm::kFrontCoded);
    return FsstForm::kFrontCoded;
  }

  bool FrontCodingPays() {
    const uint32_t groups = FsstGroups(count_), tried = std::min(groups, kTriedGroups);
    ByteWriter front_coded, separate;
    for (uint32_t i = 0; i < tried; ++i) {
      const auto group = static_cast<uint32_t>(uint64_t{i} * groups / tried);
      Compress(FsstForm::kFrontCoded, group, 1);
      PutGroup(FsstForm::kFrontCoded, group, 0, front_coded);
      Compress(FsstForm::kSeparate, group, 1);
      PutGroup(FsstForm::kSeparate, group, 0, separate);
    }
    return 100 * front_coded.size() < kFrontCodedTo * separate.size();
  }

  // Makes the table for texts of this form, from pieces of the texts of groups that are spread over
  // the block.
  void Train(FsstForm form) {
    const uint32_t groups = FsstGroups(count_);
    const size_t text = TextBytes(form);
    if (text == 0 && compressor_) return;  // the table stays empty
    trained_ = text > 0;
    const size_t wanted = std::min(text, std::clamp(text / 8, kLeastSampleBytes, kMostSampleBytes));
    std::string sample;
    std::vector<uint32_t> sizes;  // in form 2, of the values
    size_t due = 0;               // bytes of text that should be in the sample by now, times `text`
    for (uint32_t group = 0; group < groups; ++group) {
      BuildTexts(form, group, 1);
      const size_t whole = TotalBytes(texts_);
      due += wanted * whole;
      if (sample.size() * text >= due) continue;
      const size_t piece = wanted == text ? whole : kPieceBytes;
      const size_t end = sample.size() + piece;
      for (size_t i = 0; i < texts_.size() && sample.size() < end; ++i) {
        sample += texts_[i].substr(0, piece);
        if (form == FsstForm::kSeparate)
          sizes.push_back(static_cast<uint32_t>(std::min(texts_[i].size(), piece)));
      }
    }
    // In the dictionary, each symbol has its size before it.
    const size_t most = std::max(options_.max_dictionary_bytes, kMaxCountBytes) - kMaxCountBytes;
    table_ =
        TrainSymbols(sample, sizes).First(options_.max_dictionary_values, most, sizeof(uint32_t));
    compressor_.emplace(table_);
  }

  void PutBlock(FsstForm form, ByteWriter& out) {
    const uint32_t groups = FsstGroups(count_);
    out.PutFixed(form);
    out.PutVint(common_);
    out.PutBytes(text_.view().substr(0, common_));
    const size_t offsets = out.size();
    out.Extend(groups * sizeof(uint32_t));
    size_t stored = 0;
    for (uint32_t group = 0; group < groups; ++group) {
      StoreLittleEndian(static_cast<uint32_t>(out.size()),
                        out.data() + offsets + group * sizeof(uint32_t));
      const size_t part = form == FsstForm::kFrontCoded ? group % 2 : 0;
      if (part == 0) Compress(form, group, 2);
      stored += PutGroup(form, group, part, out);
    }
    const size_t text = TextBytes(FsstForm::kFrontCoded);
    if (text > 0) text_ratio_ = (stored * kWhole + text - 1) / text;
  }

  // Adds the pieces of `block`, which has form 1. A piece consists of whole groups. The front of a
  // piece is the header of a block with the same common prefix.
  void AddPieces(EncodedBlock& block) const {
    const uint32_t groups = FsstGroups(count_);
    const uint8_t* const bytes = block.bytes.data();
    ByteWriter header;
    header.PutFixed(FsstForm::kFrontCoded);
    header.PutVint(common_);
    header.PutBytes(text_.view().substr(0, common_));
    const auto begin_of = [&](uint32_t group) {
      return group == groups ? static_cast<uint32_t>(block.bytes.size())
                             : LoadLittleEndian<uint32_t>(bytes + header.size() + group * 4);
    };
    for (uint32_t first = 0, end = 0; first < groups; first = end) {
      const uint32_t begin = begin_of(first);
      for (end = first + 1; end < groups && begin_of(end) - begin < options_.piece_bytes;) ++end;
      ByteWriter front;
      front.PutBytes(header.span());
      const auto front_bytes = static_cast<uint32_t>(header.size() + (end - first) * 4);
      for (uint32_t group = first; group < end; ++group)
        front.PutFixed(front_bytes + begin_of(group) - begin);
      const uint32_t position = first * kFsstGroupValues;
      const std::string_view value = text_.view().substr(group_texts_[first], suffixes_[position]);
      block.pieces.push_back({.count = std::min(count_, end * kFsstGroupValues) - position,
                              .begin = begin,
                              .size_bytes = begin_of(end) - begin,
                              .front = std::string(front.view()),
                              .key = first == 0
                                         ? std::string()
                                         : std::string(value.substr(0, group_shared_[first] + 1))});
    }
    if (block.pieces.size() == 1) block.pieces.clear();
  }

  void Compress(FsstForm form, uint32_t group, size_t most) {
    BuildTexts(form, group, most);
    compressor_->CompressAll(texts_, codes_, code_sizes_);
  }

  // Appends a group (form 1: group `part` of the two that were compressed), and returns the stored
  // bytes of its text.
  size_t PutGroup(FsstForm form, uint32_t group, size_t part, ByteWriter& out) {
    const bool separate = form == FsstForm::kSeparate;
    const auto texts =
        std::span<const std::string_view>(texts_).subspan(part, separate ? texts_.size() : 1);
    const auto codes = std::span<const ByteWriter>(codes_).subspan(part, separate ? 2 : 1);
    size_t stored = 0;
    for (const ByteWriter& each : codes) stored += each.size();
    const bool compressed = stored < TotalBytes(texts);
    const size_t first = size_t{group} * kFsstGroupValues, count = FsstGroupCount(count_, group);
    uint32_t shared[kFsstGroupValues], suffixes[kFsstGroupValues];
    for (size_t i = 0; i < count; ++i) {
      shared[i] = shared_[first + i];
      suffixes[i] = !separate    ? suffixes_[first + i]
                    : compressed ? code_sizes_[i]
                                 : static_cast<uint32_t>(texts[i].size());
    }
    // In form 1, the sizes of the first value are not packed.
    const size_t packed = separate ? 0 : 1;
    const auto take_least = [&](uint32_t* sizes, uint32_t& least) {
      if (packed == count) return 0;
      const auto [min, max] = std::minmax_element(sizes + packed, sizes + count);
      least = *min;
      const int width = std::bit_width(*max - least);
      for (size_t i = packed; i < count; ++i) sizes[i] -= least;
      return width;
    };
    auto least_shared = static_cast<uint32_t>(common_), least_suffix = uint32_t{0};
    const int shared_width = separate ? 0 : take_least(shared, least_shared);
    const int suffix_width = take_least(suffixes, least_suffix);
    const int width = separate ? suffix_width : shared_width;
    out.PutFixed(static_cast<uint8_t>(compressed ? width | kFsstCodes : width));
    if (!separate) {
      out.PutFixed(static_cast<uint8_t>(suffix_width));
      out.PutVint(suffixes[0] - common_);
      out.PutVint(least_shared - common_);
    }
    out.PutVint(least_suffix);
    if (!separate) PackBits<uint32_t>({shared + 1, count - 1}, shared_width, out);
    PackBits<uint32_t>({suffixes + packed, count - packed}, suffix_width, out);
    if (compressed) {
      for (const ByteWriter& each : codes) out.PutBytes(each.span());
      return stored;
    }
    for (const std::string_view each : texts) out.PutBytes(each);
    return TotalBytes(texts);
  }

  const EncoderOptions options_;
  SymbolTable table_;
  std::optional<SymbolCompressor> compressor_;  // once table_ is made
  bool trained_ = false;                        // table_ is made from text, and stays
  // Stored bytes for kWhole bytes of front-coded text, in the last block. At first, a guess.
  uint64_t text_ratio_ = kWhole * 5 / 8;

  // The current block: the sizes of all values, shared with the value before and not shared, the
  // bytes that are not shared, and where the text of each group begins. The first value of a group
  // is stored whole. group_shared_ has the length of the prefix that it shares with the value
  // before it.
  ByteWriter text_;
  std::vector<uint32_t> shared_;
  std::vector<uint32_t> suffixes_;
  std::vector<size_t> group_texts_;
  std::vector<size_t> group_shared_;
  // The results of BuildTexts and Compress for a group. values_ has the bytes of the values.
  ByteWriter values_;
  std::vector<std::string_view> texts_;
  ByteWriter codes_[2];
  uint32_t code_sizes_[kFsstGroupValues + 1];
  std::string previous_;  // the last value of the previous Append
  size_t common_ = 0;     // the size of the prefix that all values share
  uint32_t count_ = 0;
  size_t whole_bytes_ = 0;  // of all values
  size_t longest_ = 0;      // the size of the largest value
  bool ascends_ = true;     // no value is less than the value before
  bool has_room_ = true;    // false: the next value does not fit into this block
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> FsstCodec::MakeEncoder(PhysicalType /*type*/,
                                                        const EncoderOptions& options) {
  return std::make_unique<FsstEncoder>(options);
}
CFILE_INSTANTIATE_ENCODER(FsstCodec, std::string_view)

}  // namespace cfile::encodings
