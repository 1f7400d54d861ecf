#include "cfile/internal/write/auto_encoder.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/internal/write/sample.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::BlockEncoder;
using encodings::ByteWriter;
using encodings::EncodedBlock;
using encodings::EncoderOptions;
using encodings::kIsBytes;

// The interval between two trials while the nature of the values stays the same, as a multiple of
// the sample's size: the first interval, and the longest. Each trial that makes the same choice as
// the previous one doubles the interval.
constexpr uint64_t kFirstTrialInterval = 256;
constexpr uint64_t kLastTrialInterval = 2048;

EncoderOptions TrialOptions(EncoderOptions options, size_t block_size_bytes) {
  options.block_size_bytes = block_size_bytes;
  return options;
}

template <typename T>
class AutoEncoder final : public BlockEncoder<T> {
 public:
  AutoEncoder(PhysicalType type, const EncoderOptions& options, const AutoOptions& choice)
      : type_(type),
        options_(options),
        trial_options_(TrialOptions(options, choice.block_size_bytes)),
        choice_(choice),
        candidates_(TrialCandidates(type)),
        sample_(SampleLimit()) {
    chosen_.row = candidates_.front();
  }

  size_t Append(std::span<const T> values) override {
    if (encoder_ != nullptr) return encoder_->Append(values);
    const size_t taken = sample_.Add(values);
    // The sample is not full, so no encoder's block would be full either.
    if (taken == values.size() && !sample_.may_fill_block()) return taken;
    if constexpr (kIsBytes<T>) {
      // The first value is larger than a sample can be: choose by its first bytes, without copying
      // the value.
      if (sample_.values().empty() && type_ == PhysicalType::kBytes) {
        const T front = values[0].substr(0, kSampleBytes);
        Choose({&front, 1});
      }
    }
    if (encoder_ == nullptr) BeginBlock();
    values = values.subspan(taken);
    return taken + (values.empty() || encoder_->full() ? 0 : encoder_->Append(values));
  }

  bool full() const override { return encoder_ != nullptr && encoder_->full(); }
  uint32_t count() const override {
    return encoder_ != nullptr ? encoder_->count() : static_cast<uint32_t>(sample_.values().size());
  }
  size_t size_bytes() const override {
    return encoder_ != nullptr ? encoder_->size_bytes() : sample_.size_bytes();
  }

  size_t retained_bytes() const override {
    size_t bytes = sample_.memory_usage_bytes();
    for (const auto& [encoding, encoder] : encoders_) bytes += encoder->retained_bytes();
    return bytes;
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    if (encoder_ == nullptr) BeginBlock();
    encoder_->Finish(first_ordinal, block);
    encoder_ = nullptr;
    if (block.encoding == Encoding::kAuto) block.encoding = chosen_.row->encoding;
    block.compressible = chosen_.compressed;
    values_since_trial_ += block.count;
  }

  bool AdoptDictionary(const encodings::Dictionary& dictionary,
                       std::vector<uint32_t>& codes) override {
    return EncoderOf(Encoding::kParquetDictionary).AdoptDictionary(dictionary, codes);
  }

  bool FinishDictionary(ByteWriter& out) override {
    for (const auto& [encoding, encoder] : encoders_) {
      if (encoder->FinishDictionary(out)) return true;
    }
    return false;
  }

 private:
  // Limits of the sample: with every encoding, the sample fits into one block.
  SampleLimits SampleLimit() const {
    SampleLimits limits{.block_bytes = options_.block_size_bytes};
    for (const encodings::EncodingRow* row : candidates_) {
      limits.extra_bytes_per_value =
          std::max(limits.extra_bytes_per_value, row->worst_extra_bytes_per_value);
      limits.extra_bytes_per_block =
          std::max(limits.extra_bytes_per_block, row->worst_extra_bytes_per_block);
    }
    return limits;
  }

  // Chooses the block's encoding by the sample and passes the sample to that encoder.
  void BeginBlock() {
    const std::span<const T> values = sample_.values();
    if (!values.empty()) Choose(values);
    if (encoder_ == nullptr) encoder_ = &EncoderOf(chosen_.row->encoding);
    [[maybe_unused]] const size_t taken = encoder_->Append(values);
    assert(taken == values.size());
    sample_.Clear();
  }

  // Makes a trial with `values` if one is due, and sets encoder_ to the chosen encoder.
  void Choose(std::span<const T> values) {
    const Nature nature = NatureOf(values);
    if (!nature_ || nature.DiffersFrom(*nature_) ||
        values_since_trial_ >= trial_interval_ * values.size()) {
      const Storage storage = TryStorage(values, type_, trial_options_, choice_, candidates_);
      const bool same = nature_ && storage == chosen_;
      trial_interval_ =
          same ? std::min(2 * trial_interval_, kLastTrialInterval) : kFirstTrialInterval;
      chosen_ = storage;
      nature_ = nature;
      values_since_trial_ = 0;
    }
    encoder_ = &EncoderOf(chosen_.row->encoding);
  }

  BlockEncoder<T>& EncoderOf(Encoding encoding) {
    for (const auto& [known, encoder] : encoders_) {
      if (known == encoding) return *encoder;
    }
    auto encoder = encodings::MakeEncoder<T>(encoding, type_, options_);
    assert(encoder.ok());
    encoders_.emplace_back(encoding, *std::move(encoder));
    return *encoders_.back().second;
  }

  const PhysicalType type_;
  const EncoderOptions options_;
  const EncoderOptions trial_options_;
  const AutoOptions choice_;
  const std::vector<const encodings::EncodingRow*> candidates_;
  // One encoder for each encoding that was used.
  std::vector<std::pair<Encoding, std::unique_ptr<BlockEncoder<T>>>> encoders_;

  // The current block: its first values, then the encoder that received them.
  Sample<T> sample_;
  BlockEncoder<T>* encoder_ = nullptr;

  // The choice of the last trial, the nature of that trial's values, and the number of values
  // written since then.
  Storage chosen_;
  std::optional<Nature> nature_;
  uint64_t trial_interval_ = kFirstTrialInterval;
  uint64_t values_since_trial_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> MakeAutoEncoder(PhysicalType type, const EncoderOptions& options,
                                                 const AutoOptions& choice) {
  assert(!options.kudu_exact);
  return std::make_unique<AutoEncoder<T>>(type, options, choice);
}

#define CFILE_INSTANTIATE(T)                                    \
  template std::unique_ptr<BlockEncoder<T>> MakeAutoEncoder<T>( \
      PhysicalType, const EncoderOptions&, const AutoOptions&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
