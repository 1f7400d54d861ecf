#include "encodings/kudu/rle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encodings/hybrid/describe_runs.h"
#include "encodings/hybrid/hybrid_decoder.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kudu/kudu_policy.h"

namespace cfile::encodings {
namespace {

constexpr size_t kRleHeaderBytes = 8;
// A block that repeats one value may never reach the block size in bytes, so it ends after this
// many values.
constexpr uint32_t kMaxValues = (uint32_t{1} << 31) - 1;

template <typename T>
class RleEncoder final : public BlockEncoder<T> {
 public:
  explicit RleEncoder(const EncoderOptions& options)
      : policy_(options),
        block_size_bytes_(options.block_size_bytes),
        encoder_(Hybrid<T>::kWidth, options.kudu_exact) {}

  size_t Append(std::span<const T> values) override {
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      const size_t until_check = chunk_values_ - count_ % chunk_values_;
      const size_t chunk =
          std::min<size_t>(policy_.Take(values.size() - taken, until_check), kMaxValues - count_);
      using Number = typename Hybrid<T>::Number;
      encoder_.PutValues(std::span(reinterpret_cast<const Number*>(values.data() + taken), chunk));
      count_ += static_cast<uint32_t>(chunk);
      taken += chunk;
    }
    return taken;
  }

  bool full() const override {
    if (count_ == kMaxValues) return true;
    return policy_.ChecksSize(count_, chunk_values_) && count_ > 0 &&
           size_bytes() > block_size_bytes_;
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override { return kRleHeaderBytes + encoder_.size_bytes(); }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    block.Clear();
    block.bytes.PutFixed(count_);
    block.bytes.PutFixed(static_cast<uint32_t>(first_ordinal));
    encoder_.Finish(block.bytes, LastGroup::kTruncated);
    block.count = count_;
    count_ = 0;
  }

 private:
  const KuduPolicy policy_;
  const size_t block_size_bytes_;
  // Values between two checks of the block's size. They are counted from the block's start, so that
  // the encoded bytes do not depend on how the caller divided the values into Append calls.
  const size_t chunk_values_ = std::clamp<size_t>(block_size_bytes_ / (4 * sizeof(T)), 16, 1024);
  RleHybridEncoder encoder_;
  uint32_t count_ = 0;
};

template <typename T>
class RleDecoder final : public HybridDecoder<T> {
 public:
  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    this->count_ = this->position_ = 0;
    ByteReader reader(block);
    uint32_t count;
    if (!reader.ReadFixed(count) || !reader.ReadFixed(this->first_ordinal_)) {
      return DataLoss("rle block: header takes ", kRleHeaderBytes, " bytes, found ", block.size());
    }
    if (count > 0 && reader.empty()) return DataLoss("rle block of ", count, " values has no runs");
    this->runs_.Open(reader.rest(), Hybrid<T>::kWidth, RunsIndex::CheckpointsOf(view.seek_index));
    this->count_ = count;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> RleCodec::MakeEncoder(PhysicalType /*type*/,
                                                       const EncoderOptions& options) {
  return std::make_unique<RleEncoder<T>>(options);
}

template <typename T>
std::unique_ptr<BlockDecoder<T>> RleCodec::MakeDecoder(PhysicalType /*type*/,
                                                       const DecoderOptions& /*options*/) {
  return std::make_unique<RleDecoder<T>>();
}

absl::Status RleCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                const BlockView& /*block*/, BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const uint32_t count, description.AddFixed32("count"));
  CFILE_RETURN_IF_ERROR(description.AddFixed32("first ordinal").status());
  const size_t value_bytes =
      VisitPhysicalType(type, []<typename T>(std::type_identity<T>) { return sizeof(T); });
  const int width = type == PhysicalType::kBool ? 1 : static_cast<int>(8 * value_bytes);
  return DescribeRuns(width, count, description.reader().remaining(), description);
}

#define CFILE_INSTANTIATE(T)             \
  CFILE_INSTANTIATE_ENCODER(RleCodec, T) \
  CFILE_INSTANTIATE_DECODER(RleCodec, T)
CFILE_INSTANTIATE(bool)
CFILE_FOR_EACH_WORD_INTEGER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
