#include "cfile/core/write/auto_encoder.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/core/write/sample.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/parquet/page_codec.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::AnyBlockEncoder;
using encodings::ByteWriter;
using encodings::EncodedBlock;
using encodings::EncoderOptions;
using encodings::kIsBytes;
using encodings::Lane;
using encodings::ValueSpan;

// While the nature of the values stays the same, the next trial comes only after a certain number
// of bytes of values. This number is a multiple of the bytes that the last trial encoded and
// compressed. The constants are the first and the greatest multiple. Each trial that makes the same
// choice as the previous one doubles the multiple.
constexpr uint64_t kFirstTrialInterval = 20;
constexpr uint64_t kLastTrialInterval = 80;
// All trials together cost at most a tenth of the bytes of the values, beyond this many bytes. For
// strings and Goal::kSize, a trial also makes a table of symbols, which costs more.
constexpr uint64_t FreeTrialBytes(Lane lane, Goal goal) {
  return (lane == Lane::kBytes && goal == Goal::kSize ? uint64_t{16} : uint64_t{4}) << 20;
}
// Within a block, the nature of the values is examined at each multiple of this many values. If it
// has changed, the block ends, unless it has less than a quarter of the size of a block. With
// AutoOptions::small_blocks, values are counted across blocks, nothing else is examined at the
// front of a block, and a change leads to a trial for the next block.
constexpr uint32_t LookInterval(Lane lane) { return lane == Lane::kBytes ? 1 << 13 : 1 << 15; }

// Returns how many bytes a value counts beside its own bytes when an encoder of this encoding
// decides that its block is full.
uint32_t ExtraBytesPerValue(const encodings::EncodingRow& row, PhysicalType type) {
  return encodings::VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    using P = encodings::PageType<T>;
    if constexpr (!kIsBytes<P>) {
      // A block of PLAIN has numbers and nothing else. A block of Parquet's encodings is full when
      // the values, not the encoded page, have the size of a block.
      if (row.encoding == Encoding::kPlain) return uint32_t{0};
      const auto number = static_cast<uint32_t>(row.encoding);
      if (encodings::kFirstExtendedNumber <= number && number < encodings::kFirstOwnNumber) {
        return uint32_t{std::max(sizeof(P), sizeof(T)) - sizeof(T)};
      }
    }
    return row.worst_extra_bytes_per_value;
  });
}

// True if a page stores values of `type` as strings.
bool HasTextPages(PhysicalType type) {
  return encodings::VisitPhysicalType(
      type, [](auto t) { return kIsBytes<encodings::PageType<typename decltype(t)::type>>; });
}

EncoderOptions TrialOptions(EncoderOptions options, size_t block_size_bytes) {
  options.block_size_bytes = block_size_bytes;
  options.piece_bytes = 0;
  return options;
}

class TryingEncoder final : public AutoEncoder {
 public:
  TryingEncoder(PhysicalType type, const EncoderOptions& options, const AutoOptions& choice)
      : type_(type),
        lane_(encodings::LaneOf(type)),
        options_(options),
        trial_options_(TrialOptions(options, choice.block_size_bytes)),
        choice_(choice),
        candidates_(TrialCandidates(type, choice)),
        sample_(lane_, SampleLimit()),
        look_(type) {
    chosen_.row = candidates_.front();
  }

  size_t AppendAny(ValueSpan values) override {
    size_t taken = 0;
    if (encoder_ == nullptr && UsesLastChoice()) {
      encoder_ = &EncoderOf(chosen_.row->encoding);
    } else if (encoder_ == nullptr) {
      taken = sample_.Add(values);
      // The sample is not full, so no encoder's block would be full either.
      if (taken == values.count && !sample_.may_fill_block()) return taken;
      if (!sample_.wide() && !sample_.values().empty() && TrialIsDue(sample_.values())) {
        sample_.Widen();
        taken += sample_.Add(Tail(values, taken));
        if (taken == values.count && !sample_.may_fill_block()) return taken;
      }
      // The first value is larger than a sample can be: choose by its first bytes, without copying
      // the value.
      if (sample_.values().empty() && type_ == PhysicalType::kBytes) {
        const std::string_view front = values.As<std::string_view>()[0].substr(0, kSampleBytes);
        if (TrialIsDue({&front, 1})) Try({&front, 1}, /*at_end=*/false);
      }
      BeginBlock(/*at_end=*/false);
    }
    values = Tail(values, taken);
    return taken + (values.empty() || full() ? 0 : AppendToBlock(values));
  }

  bool full() const override { return encoder_ != nullptr && (ends_early_ || encoder_->full()); }
  bool sampling() const override { return encoder_ == nullptr && !sample_.values().empty(); }
  uint32_t count() const override {
    return encoder_ != nullptr ? encoder_->count() : static_cast<uint32_t>(sample_.values().count);
  }
  size_t size_bytes() const override {
    return encoder_ != nullptr ? encoder_->size_bytes() : sample_.size_bytes();
  }

  size_t retained_bytes() const override {
    size_t bytes = sample_.memory_usage_bytes();
    for (const auto& [encoding, encoder] : encoders_) bytes += encoder->retained_bytes();
    return bytes;
  }

  uint64_t trial_cost_bytes() const override { return trial_bytes_; }
  const std::optional<ChoiceInfo>& choice() const override {
    return values_before_ - found_at_ >= kept_values_ ? found_ : kept_;
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    // A block that ends with its sample is most likely the last one.
    if (encoder_ == nullptr) BeginBlock(/*at_end=*/true);
    encoder_->Finish(first_ordinal, block);
    encoder_ = nullptr;
    ends_early_ = false;
    if (block.encoding == Encoding::kAuto) block.encoding = chosen_.row->encoding;
    if (!chosen_.compressed && IsLargerThanPlain(block))
      StoreAsPlainIfSmaller(first_ordinal, block);
    block.compressible = chosen_.compressed;
    if (block.encoding != chosen_.row->encoding) {
      // The chosen encoding did not suit the block. It was stored in a simple form, which a codec
      // makes smaller.
      block.compressible = true;
      nature_.reset();
    }
    block_bytes_ = 0;
  }

  bool AdoptDictionary(const encodings::Dictionary& dictionary,
                       std::vector<uint32_t>& codes) override {
    // A file has one dictionary.
    const bool has_other = std::ranges::any_of(encoders_, [](const auto& each) {
      return each.first != Encoding::kParquetDictionary &&
             encodings::FindEncoding(each.first)->has_dictionary;
    });
    if (encodings::FindEncoding(Encoding::kParquetDictionary) == nullptr) return false;
    return !has_other && EncoderOf(Encoding::kParquetDictionary).AdoptDictionary(dictionary, codes);
  }

  bool FinishDictionary(ByteWriter& out) override {
    for (const auto& [encoding, encoder] : encoders_) {
      if (encoder->FinishDictionary(out)) return true;
    }
    return false;
  }

 private:
  // The values from value `begin` on.
  ValueSpan Tail(ValueSpan values, size_t begin) const {
    return {encodings::ValueAt(values.data, lane_, begin), values.count - begin};
  }

  // Limits of the sample: with every encoding, the sample fits into one block.
  SampleLimits SampleLimit() const {
    SampleLimits limits{.block_bytes = options_.block_size_bytes};
    for (const encodings::EncodingRow* row : candidates_) {
      limits.extra_bytes_per_value =
          std::max(limits.extra_bytes_per_value, ExtraBytesPerValue(*row, type_));
      limits.extra_bytes_per_block =
          std::max(limits.extra_bytes_per_block, row->worst_extra_bytes_per_block);
    }
    if (HasTextPages(type_)) {
      // A page has room for a sample of strings of 4 bytes or more (with the size of each) if
      // 1 + kWorstTextBytes / 4 samples fit. If not, the largest block is unusually small.
      const size_t most_text_bytes = encodings::MostTextBytes(options_);
      if (4 * most_text_bytes < (4 + encodings::kWorstTextBytes) * options_.block_size_bytes) {
        limits.block_bytes = std::min(limits.block_bytes, most_text_bytes);
        limits.extra_bytes_per_value =
            std::max<uint32_t>(limits.extra_bytes_per_value, uint32_t{encodings::kWorstTextBytes});
      }
    }
    return limits;
  }

  // Sets nature_now_ to the nature of `values`, the first values of a block. Returns whether a
  // trial is due. Precondition: `values` is not empty.
  bool TrialIsDue(ValueSpan values) {
    nature_now_ = NatureOf(values, type_);
    return TrialIsDueAnyway() || (MayTry() && nature_now_.DiffersFrom(*nature_));
  }
  // Returns whether a trial is due whatever the nature of the next values is.
  bool TrialIsDueAnyway() const {
    if (last_trial_bytes_ == 0) return true;
    if (!MayTry()) return false;
    const bool has_doubled = values_before_ >= 2 * last_trial_values_;
    return !nature_ || (depends_on_count_ && has_doubled) ||
           value_bytes_ >= last_trial_at_ + trial_interval_ * last_trial_bytes_;
  }

  // True if the next block, which has no values yet, is stored like the block before it, without a
  // sample.
  bool UsesLastChoice() const {
    return choice_.small_blocks && sample_.values().empty() && !TrialIsDueAnyway();
  }

  // False if trials have cost too much already.
  bool MayTry() const {
    return trial_bytes_ <= FreeTrialBytes(lane_, choice_.goal) + value_bytes_ / 10;
  }

  // Makes a trial with `values`, the first ones of a block. `at_end`: no others follow.
  // Precondition: nature_now_ is their nature.
  void Try(ValueSpan values, bool at_end) {
    // Assume that a quarter as many values follow as there are so far.
    const uint64_t so_far = values_before_ + values.count;
    const Trial trial = TryStorage(values, at_end ? so_far : so_far + (so_far + 3) / 4, type_,
                                   trial_options_, choice_, candidates_);
    const bool same = nature_ && trial.storage == chosen_;
    trial_interval_ =
        same ? std::min(2 * trial_interval_, kLastTrialInterval) : kFirstTrialInterval;
    if (!found_ || trial.storage != chosen_) {
      if (values_before_ - found_at_ >= kept_values_) {
        kept_ = found_;
        kept_values_ = values_before_ - found_at_;
      }
      found_ = trial.found;
      found_at_ = values_before_;
    } else if (trial.found.num_values >= found_->num_values) {
      found_ = trial.found;
    }
    chosen_ = trial.storage;
    depends_on_count_ = trial.depends_on_count;
    last_trial_values_ = so_far;
    nature_ = nature_now_;
    last_trial_at_ = value_bytes_;
    last_trial_bytes_ = trial.cost_bytes;
    trial_bytes_ += trial.cost_bytes;
  }

  // Chooses the block's encoding, by a trial if one is due, and passes the sample to that encoder.
  // `at_end`: no values follow the sample.
  void BeginBlock(bool at_end) {
    const ValueSpan values = sample_.values();
    if (!values.empty() && (sample_.wide() || TrialIsDue(values))) Try(values, at_end);
    encoder_ = &EncoderOf(chosen_.row->encoding);
    look_ = NatureFinder(type_);
    look_at_ = LookInterval(lane_);
    const size_t taken = encoder_->AppendAny(values);
    CFILE_ASSERT(taken == values.count);
    Count(values);
    position_ = values.count;
    while (look_at_ < position_) look_at_ += LookInterval(lane_);
    // Only the first block goes on after its sample: its table of symbols is made from all its
    // values. The end of another block would then depend on the caller's batches.
    ends_early_ = choice_.small_blocks && !values.empty() && values_before_ > values.count;
    sample_.Clear();
  }

  static size_t BytesOf(const EncodedBlock& block) {
    return block.bytes.size() + block.skip_table.size();
  }

  // True if the block, whose encoding promised to be smaller for a sample, is larger than PLAIN.
  // Blocks that need the file's dictionary stay as they are. Not for blocks that a codec makes
  // smaller: their encoded size says little.
  bool IsLargerThanPlain(const EncodedBlock& block) const {
    uint64_t plain_bytes = block_bytes_;
    if (lane_ == Lane::kBytes) plain_bytes += uint64_t{block.count} * sizeof(uint32_t);
    if (type_ == PhysicalType::kBool) plain_bytes /= 8;
    return BytesOf(block) > plain_bytes && block.encoding != Encoding::kPlain &&
           !encodings::FindEncoding(block.encoding)->has_dictionary;
  }

  void StoreAsPlainIfSmaller(uint64_t first_ordinal, EncodedBlock& block) {
    auto decoder = encodings::MakeAnyDecoder(block.encoding, type_, options_.type_length);
    CFILE_ASSERT(decoder.ok());
    EncoderOptions plain_options = options_;
    plain_options.block_size_bytes = std::numeric_limits<int32_t>::max();
    auto encoder = encodings::MakeAnyEncoder(Encoding::kPlain, type_, plain_options);
    CFILE_ASSERT(encoder.ok());
    absl::Status opened = (*decoder)->Open({block, first_ordinal});
    CFILE_ASSERT(opened.ok());
    constexpr size_t kValues = 512;
    const auto values =
        std::make_unique_for_overwrite<std::byte[]>(kValues * encodings::WidthOf(lane_));
    for (uint32_t left = block.count; left > 0;) {
      const auto read = (*decoder)->ReadAny(values.get(), std::min<size_t>(left, kValues));
      CFILE_ASSERT(read.ok() && *read > 0);
      (*encoder)->AppendAny({values.get(), *read});
      left -= static_cast<uint32_t>(*read);
    }
    EncodedBlock plain;
    (*encoder)->Finish(first_ordinal, plain);
    // PLAIN may refuse the last values of a block that is almost as large as blocks may be.
    if (plain.count < block.count || BytesOf(plain) >= BytesOf(block)) return;
    plain.encoding = Encoding::kPlain;
    block = std::move(plain);
  }

  void Count(ValueSpan values) {
    block_bytes_ += OwnBytes(values, lane_);
    values_before_ += values.count;
    value_bytes_ += DecodedBytes(values, lane_);
  }

  // Passes values to the block's encoder, and looks at the values at each multiple of
  // kLookInterval.
  size_t AppendToBlock(ValueSpan values) {
    size_t taken = 0;
    while (taken < values.count && !full()) {
      const bool looks = position_ >= look_at_;
      const uint64_t part_end = looks ? look_at_ + kNatureValues : look_at_;
      ValueSpan part = Tail(values, taken);
      part.count = std::min<size_t>(part.count, part_end - position_);
      const size_t appended = encoder_->AppendAny(part);
      taken += appended;
      position_ += appended;
      Count({part.data, appended});
      if (looks) look_.Add({part.data, appended});
      if (appended < part.count) break;
      if (looks && position_ == part_end) EndLook();
    }
    return taken;
  }

  // Ends the block if the values looked at differ in nature from those of the last trial.
  void EndLook() {
    const bool is_large = 4 * encoder_->size_bytes() >= options_.block_size_bytes;
    const bool differs = nature_ && look_.Find().DiffersFrom(*nature_) && MayTry();
    ends_early_ = differs && is_large && !options_.whole_records;
    if (differs && choice_.small_blocks) nature_.reset();
    look_ = NatureFinder(type_);
    look_at_ += LookInterval(lane_);
  }

  AnyBlockEncoder& EncoderOf(Encoding encoding) {
    for (const auto& [known, encoder] : encoders_) {
      if (known == encoding) return *encoder;
    }
    auto encoder = encodings::MakeAnyEncoder(encoding, type_, options_);
    CFILE_ASSERT(encoder.ok());
    encoders_.emplace_back(encoding, *std::move(encoder));
    if (encodings::FindEncoding(encoding)->has_dictionary) {
      // A file has one dictionary.
      std::erase_if(candidates_, [&](const encodings::EncodingRow* row) {
        return row->has_dictionary && row->encoding != encoding;
      });
    }
    return *encoders_.back().second;
  }

  const PhysicalType type_;
  const Lane lane_;
  const EncoderOptions options_;
  const EncoderOptions trial_options_;
  const AutoOptions choice_;
  std::vector<const encodings::EncodingRow*> candidates_;
  // One encoder for each encoding that was used.
  std::vector<std::pair<Encoding, std::unique_ptr<AnyBlockEncoder>>> encoders_;

  // The current block: its first values, then the encoder that received them.
  Sample sample_;
  AnyBlockEncoder* encoder_ = nullptr;
  bool ends_early_ = false;
  // The values from position look_at_ on, for a look. Positions count from the front of the block
  // or, with small_blocks, from the front of the last block that had a sample. position_: of the
  // next value.
  NatureFinder look_;
  uint64_t look_at_ = LookInterval(lane_);
  uint64_t position_ = 0;

  // The choice of the last trial, the nature of that trial's values, what the trial cost, and how
  // many bytes of values were written before it.
  Storage chosen_;
  // What the trials that made the current choice found (of several, the one with the most values),
  // and how many values the column had before. kept_ and kept_values_ are for the choice that has
  // stored the most values so far.
  std::optional<ChoiceInfo> found_;
  uint64_t found_at_ = 0;
  std::optional<ChoiceInfo> kept_;
  uint64_t kept_values_ = 0;
  std::optional<Nature> nature_;
  uint64_t last_trial_bytes_ = 0;
  uint64_t last_trial_at_ = 0;
  // What the last trial returned as Trial::depends_on_count, and how many values the column had
  // then.
  bool depends_on_count_ = false;
  uint64_t last_trial_values_ = 0;
  uint64_t trial_interval_ = kFirstTrialInterval;
  Nature nature_now_;         // of the current block's first values
  uint64_t trial_bytes_ = 0;  // the cost of all trials
  // The values that were passed to encoders, and their bytes; of strings, also their views.
  uint64_t values_before_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t block_bytes_ = 0;  // of the values of the current block, without views
};

}  // namespace

std::unique_ptr<AutoEncoder> MakeAutoEncoder(PhysicalType type, const EncoderOptions& options,
                                             const AutoOptions& choice) {
  CFILE_ASSERT(!options.kudu_exact);
  return std::make_unique<TryingEncoder>(type, options, choice);
}

}  // namespace cfile::internal
