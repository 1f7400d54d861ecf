#include "encodings/kudu/dict.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"
#include "encodings/core/seek_by_reading.h"
#include "encodings/core/value_codes.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/kudu/bit_shuffle.h"
#include "encodings/kudu/kudu_policy.h"
#include "encodings/kudu/plain.h"
#include "encodings/kudu/plain_binary.h"

namespace cfile::encodings {
namespace {

// Upper bound for the bytes that a value adds to the dictionary's block in addition to its own
// bytes.
constexpr size_t kDictionaryEntryBytes = 16;

enum class Mode : uint32_t { kCodes = 1, kPlain = 2 };

class DictEncoder final : public BlockEncoder<std::string_view> {
 public:
  explicit DictEncoder(const EncoderOptions& options)
      : options_(options),
        policy_(options),
        max_codes_(std::max<size_t>(options.block_size_bytes / sizeof(uint32_t), 1)),
        codes_(BitShuffleCodec::MakeEncoder<uint32_t>(PhysicalType::kUint32, options)),
        dictionary_(MakePlainBinaryEncoder(options)),
        known_(/*overhead_bytes=*/0, /*limit_bytes=*/UINT32_MAX - 1,
               options.max_dictionary_values) {}

  size_t Append(std::span<const std::string_view> values) override {
    if (plain_ != nullptr) return plain_->Append(values);
    const size_t room = max_codes_ - codes_->count();
    batch_.clear();
    // Kudu adds a value to the dictionary before it notices that the block has no space for the
    // value's code.
    values = values.first(policy_.Take(values.size(), room));
    const auto ends_block = [&] { return dictionary_full_ && policy_.FullDictionaryEndsBlock(); };
    if (!ends_block()) {
      known_.VisitCodes(values, [&](size_t i, uint32_t code) {
        if (!Learn(values[i], code) || batch_.size() == room) return false;
        batch_.push_back(code);
        return !ends_block();
      });
    }
    codes_->Append(batch_);
    if (options_.whole_records) {
      block_codes_.insert(block_codes_.end(), batch_.begin(), batch_.end());
      if (batch_.size() < values.size() && dictionary_full_) {
        TurnPlain();
        return batch_.size() + plain_->Append(values.subspan(batch_.size()));
      }
    }
    if (batch_.empty() && dictionary_full_ && codes_->count() == 0 && !values.empty()) {
      BeginPlain();
      return plain_->Append(values);
    }
    return batch_.size();
  }

  bool full() const override {
    if (plain_ != nullptr) return plain_->full();
    return codes_->full() || (dictionary_full_ && codes_->count() > 0 && !options_.whole_records);
  }
  bool nearly_full() const override { return full() || (plain_ == nullptr && HalfDictionary()); }
  uint32_t count() const override { return plain_ != nullptr ? plain_->count() : codes_->count(); }
  size_t size_bytes() const override {
    return sizeof(Mode) + (plain_ != nullptr ? plain_->size_bytes() : codes_->size_bytes());
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    block.Clear();
    block.bytes.PutFixed(plain_ != nullptr ? Mode::kPlain : Mode::kCodes);
    if (plain_ != nullptr) {
      plain_->Finish(first_ordinal, inner_);
    } else {
      codes_->Finish(first_ordinal, inner_);
      if (dictionary_full_ || (options_.whole_records && HalfDictionary())) BeginPlain();
    }
    block_codes_.clear();
    block.bytes.PutBytes(inner_.bytes.span());
    block.count = inner_.count;
  }

  size_t retained_bytes() const override {
    return known_.memory_usage_bytes() + dictionary_->size_bytes() +
           block_codes_.capacity() * sizeof(uint32_t);
  }

  bool FinishDictionary(ByteWriter& out) override {
    dictionary_->Finish(0, inner_);
    out.PutBytes(inner_.bytes.span());
    return true;
  }

 private:
  // Adds `value` to the dictionary if it is new. `code` is the code of the value in known_. Returns
  // false if the value is new but cannot be added.
  bool Learn(std::string_view value, uint32_t code) {
    const uint32_t size = dictionary_->count();
    if (code < size) return true;
    // The dictionary is a block, so the limits for blocks apply to it.
    const size_t dictionary_bytes =
        dictionary_->size_bytes() + value.size() + kDictionaryEntryBytes;
    const bool too_long = size > 0 && (value.size() > policy_.LongestDictionaryValue() ||
                                       dictionary_bytes > options_.max_block_size_bytes);
    if (dictionary_full_ || too_long || code == known_.kNoCode) {
      known_.Truncate(size);  // once per file: all later blocks are PLAIN
      dictionary_full_ = true;
      return false;
    }
    dictionary_->Append({&value, 1});
    dictionary_full_ = dictionary_->full();
    return true;
  }

  // True if the dictionary is more than half full. The rest of a record may then not fit, so the
  // block should end soon.
  bool HalfDictionary() const {
    return dictionary_->size_bytes() > options_.max_block_size_bytes / 2 ||
           dictionary_->count() > options_.max_dictionary_values / 2;
  }

  void BeginPlain() { plain_ = MakePlainBinaryEncoder(options_); }

  // Converts the current block from codes to PLAIN, because the dictionary has no space for the
  // rest of a record. If not all values fit, the block is full: Append takes no more values, and
  // the caller reports an error.
  void TurnPlain() {
    BeginPlain();
    for (const uint32_t code : block_codes_) {
      const std::string_view value = known_[code];
      if (plain_->Append({&value, 1}) == 0) break;
    }
    codes_->Finish(0, inner_);
  }

  const EncoderOptions options_;
  const KuduPolicy policy_;
  const size_t max_codes_;  // a block has at most this many codes
  const std::unique_ptr<BlockEncoder<uint32_t>> codes_;
  const std::unique_ptr<BlockEncoder<std::string_view>> dictionary_;
  std::unique_ptr<BlockEncoder<std::string_view>> plain_;  // made when the dictionary is full
  ValueCodes<std::string_view> known_;
  bool dictionary_full_ = false;
  std::vector<uint32_t> batch_;
  std::vector<uint32_t> block_codes_;  // codes of the current block; only with whole_records
  EncodedBlock inner_;
};

class DictDecoder final : public BlockDecoder<std::string_view> {
 public:
  explicit DictDecoder(std::shared_ptr<const Dictionary> dictionary)
      : dictionary_(std::static_pointer_cast<const ValueDictionary<std::string_view>>(
            std::move(dictionary))),
        codes_(BitShuffleCodec::MakeDecoder<uint32_t>(PhysicalType::kUint32, {})),
        plain_(MakePlainBinaryDecoder()) {}

  absl::Status Open(const BlockView& view) override {
    count_ = position_ = 0;
    ByteReader reader(view.bytes);
    uint32_t mode;
    if (!reader.ReadFixed(mode)) {
      return DataLoss("dict: a block of ", view.bytes.size(),
                      " bytes is too short for its mode of 4 bytes");
    }
    if (mode != static_cast<uint32_t>(Mode::kCodes) &&
        mode != static_cast<uint32_t>(Mode::kPlain)) {
      return DataLoss("dict: mode ", mode, ", expected 1 (codes) or 2 (plain)");
    }
    has_codes_ = mode == static_cast<uint32_t>(Mode::kCodes);
    if (has_codes_) {
      CFILE_RETURN_IF_ERROR(OpenInner(*codes_, reader.rest()));
      if (count_ > 0 && dictionary_ == nullptr) {
        const uint32_t codes = std::exchange(count_, 0);
        return MissingDictionary("dict", codes);
      }
      return absl::OkStatus();
    }
    return OpenInner(*plain_, reader.rest());
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= count_);
    CFILE_RETURN_IF_ERROR(has_codes_ ? codes_->SeekTo(position) : plain_->SeekTo(position));
    position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    size_t read = Left(out.size());
    if (!has_codes_) {
      CFILE_ASSIGN_OR_RETURN(read, plain_->Read(out.first(read)));
    } else {
      if (codes_->position() != position_) CFILE_RETURN_IF_ERROR(codes_->SeekTo(position_));
      for (size_t done = 0; done < read;) {
        CFILE_ASSIGN_OR_RETURN(const size_t looked_up, LookUp(out.subspan(done, read - done)));
        done += looked_up;
      }
    }
    position_ += static_cast<uint32_t>(read);
    return read;
  }

  std::span<const std::string_view> DictionaryValues() const override {
    if (!has_codes_ || dictionary_ == nullptr) return {};
    return {dictionary_->values.get(), dictionary_->size};
  }

  absl::StatusOr<size_t> ReadCodes(std::span<uint32_t> out) override {
    const size_t read = Left(out.size());
    if (codes_->position() != position_) CFILE_RETURN_IF_ERROR(codes_->SeekTo(position_));
    for (size_t done = 0; done < read;) {
      CFILE_ASSIGN_OR_RETURN(const auto codes, NextCodes(read - done));
      std::copy(codes.begin(), codes.end(), out.begin() + static_cast<ptrdiff_t>(done));
      done += codes.size();
    }
    position_ += static_cast<uint32_t>(read);
    return read;
  }

  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    if (has_codes_) return SeekToKeyByReading<std::string_view>(*this, key);
    CFILE_ASSIGN_OR_RETURN(const LowerBound bound, plain_->SeekToKey(key));
    position_ = bound.position;
    return bound;
  }

 private:
  template <typename T>
  absl::Status OpenInner(BlockDecoder<T>& decoder, std::span<const uint8_t> bytes) {
    CFILE_RETURN_IF_ERROR(decoder.Open(bytes));
    count_ = decoder.count();
    first_ordinal_ = decoder.first_ordinal();
    return absl::OkStatus();
  }

  // Returns the next codes, all less than the dictionary's size: as many as are contiguous in
  // memory, at most `max`. Precondition: `max` values are left.
  absl::StatusOr<std::span<const uint32_t>> NextCodes(size_t max) {
    const std::span<const uint32_t> codes = codes_->Borrow(max);
    if (codes.empty()) {
      uint32_t code;
      CFILE_RETURN_IF_ERROR(codes_->Read({&code, 1}).status());
      return DataLoss("dict: the block's codes end at value ", position_);
    }
    // Codes of a dictionary are less than 2^31. The top bit of `wrong` is set if a code has its top
    // bit set or exceeds `last`: a check without comparisons.
    const uint32_t last = dictionary_->size - 1;
    uint32_t wrong = 0;
    for (const uint32_t code : codes) wrong |= code | (last - code);
    if (wrong >> 31 != 0) {
      return DataLoss("dict: code ", *std::max_element(codes.begin(), codes.end()),
                      " at or after value ", position_, ", the dictionary has ", dictionary_->size,
                      " values");
    }
    return codes;
  }

  // Writes the values of the next codes to the front of `out` and returns how many. Precondition:
  // out.size() values are left.
  absl::StatusOr<size_t> LookUp(std::span<std::string_view> out) {
    CFILE_ASSIGN_OR_RETURN(const auto codes, NextCodes(out.size()));
    const std::string_view* const values = dictionary_->values.get();
    for (size_t i = 0; i < codes.size(); ++i) out[i] = values[codes[i]];
    return codes.size();
  }

  const std::shared_ptr<const ValueDictionary<std::string_view>> dictionary_;
  const std::unique_ptr<BlockDecoder<uint32_t>> codes_;
  const std::unique_ptr<BlockDecoder<std::string_view>> plain_;
  bool has_codes_ = false;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> DictCodec::MakeEncoder(PhysicalType /*type*/,
                                                        const EncoderOptions& options) {
  return std::make_unique<DictEncoder>(options);
}
CFILE_INSTANTIATE_ENCODER(DictCodec, std::string_view)

template <typename T>
std::unique_ptr<BlockDecoder<T>> DictCodec::MakeDecoder(PhysicalType /*type*/,
                                                        const DecoderOptions& options) {
  return std::make_unique<DictDecoder>(options.dictionary);
}
CFILE_INSTANTIATE_DECODER(DictCodec, std::string_view)

absl::StatusOr<std::shared_ptr<const Dictionary>> DictCodec::LoadDictionary(
    PhysicalType /*type*/, uint32_t /*type_length*/, std::span<const uint8_t> bytes,
    size_t max_values) {
  const auto dictionary = std::make_shared<ValueDictionary<std::string_view>>();
  dictionary->text = std::make_unique<uint8_t[]>(bytes.size() + PackedStrings::kAhead);
  std::copy(bytes.begin(), bytes.end(), dictionary->text.get());
  const auto decoder = MakePlainBinaryDecoder();
  const std::span<const uint8_t> text(dictionary->text.get(), bytes.size());
  CFILE_RETURN_IF_ERROR(decoder->Open(text));
  // The values differ, so at most one is empty. Each other value takes at least 2 bytes: one of its
  // own and one for its offset.
  if (decoder->count() > bytes.size() / 2 + 1) {
    return DataLoss("dict: a dictionary of ", bytes.size(), " bytes cannot have ", decoder->count(),
                    " different values");
  }
  CFILE_RETURN_IF_ERROR(CheckDictionarySize(decoder->count(), max_values));
  dictionary->size = decoder->count();
  dictionary->values.reset(new std::string_view[decoder->count()]);
  for (size_t done = 0; done < dictionary->size;) {
    CFILE_ASSIGN_OR_RETURN(
        const size_t read,
        decoder->Read({dictionary->values.get() + done,
                       std::min<size_t>(dictionary->size - done, kMaxBatchValues)}));
    done += read;
  }
  return std::shared_ptr<const Dictionary>(dictionary);
}

absl::Status DictCodec::Describe(PhysicalType /*type*/, const DecoderOptions& options,
                                 const BlockView& block, BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const uint32_t mode, description.AddFixed32("mode: 1 codes, 2 values"));
  switch (static_cast<Mode>(mode)) {
    case Mode::kCodes:
      return BitShuffleCodec::Describe(PhysicalType::kUint32, options, block, description);
    case Mode::kPlain:
      return PlainCodec::Describe(PhysicalType::kBytes, options, block, description);
  }
  return DataLoss("mode ", mode, ", expected 1 (codes) or 2 (plain)");
}

absl::Status DictCodec::CheckWithoutDictionary(BlockView& block) {
  constexpr size_t kModeBytes = 4;
  const auto codes = BitShuffleCodec::MakeDecoder<uint32_t>(PhysicalType::kUint32, {});
  CFILE_RETURN_IF_ERROR(codes->Open(block.bytes.subspan(std::min(kModeBytes, block.bytes.size()))));
  block.count = codes->count();
  block.first_ordinal = codes->first_ordinal();
  uint32_t buffer[1024];
  while (codes->position() < block.count) CFILE_RETURN_IF_ERROR(codes->Read(buffer).status());
  return absl::OkStatus();
}

}  // namespace cfile::encodings
