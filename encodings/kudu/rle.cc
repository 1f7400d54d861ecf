#include "encodings/kudu/rle.h"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>
#include <vector>

#include "encodings/core/key_order.h"
#include "encodings/hybrid/rle_hybrid.h"

namespace cfile::encodings {
namespace {

constexpr size_t kHeaderBytes = 8;
// A block that repeats one value may never reach the block size in bytes. It ends after this many
// values.
constexpr uint32_t kMaxValues = (uint32_t{1} << 31) - 1;

// The unsigned type that represents a T in the hybrid, and its width in bits.
template <typename T>
struct Hybrid {
  using Number = std::make_unsigned_t<T>;
  static constexpr int kWidth = 8 * sizeof(T);
};
template <>
struct Hybrid<bool> {
  using Number = uint8_t;
  static constexpr int kWidth = 1;
};

template <typename T>
class RleEncoder final : public BlockEncoder<T> {
 public:
  explicit RleEncoder(const EncoderOptions& options)
      : options_(options), encoder_(Hybrid<T>::kWidth, options.kudu_exact) {}

  // Kudu takes the whole batch and checks the size afterwards.
  size_t Append(std::span<const T> values) override {
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      size_t chunk = std::min<size_t>(values.size() - taken, kMaxValues - count_);
      if (!options_.kudu_exact) chunk = std::min(chunk, chunk_values_ - count_ % chunk_values_);
      using Number = typename Hybrid<T>::Number;
      encoder_.PutValues(std::span(reinterpret_cast<const Number*>(values.data() + taken), chunk));
      count_ += static_cast<uint32_t>(chunk);
      taken += chunk;
      if (options_.kudu_exact) break;
    }
    return taken;
  }

  bool full() const override {
    if (count_ == kMaxValues) return true;
    const bool looks = options_.kudu_exact || count_ % chunk_values_ == 0;
    return looks && count_ > 0 && size_bytes() > options_.block_size_bytes;
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override { return kHeaderBytes + encoder_.size_bytes(); }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    block.Clear();
    block.bytes.PutFixed(count_);
    block.bytes.PutFixed(static_cast<uint32_t>(first_ordinal));
    encoder_.Finish(block.bytes, LastGroup::kTruncated);
    block.count = count_;
    count_ = 0;
  }

 private:
  const EncoderOptions options_;
  // Values between two checks of the block's size. They are counted from the block's start, so that
  // the encoded bytes do not depend on how the caller divided the values into Append calls.
  const size_t chunk_values_ =
      std::clamp<size_t>(options_.block_size_bytes / (4 * sizeof(T)), 16, 1024);
  RleHybridEncoder encoder_;
  uint32_t count_ = 0;
};

class RunsIndex final : public SeekIndex {
 public:
  explicit RunsIndex(std::vector<HybridCheckpoint> checkpoints)
      : checkpoints_(std::move(checkpoints)) {}
  std::span<const HybridCheckpoint> checkpoints() const { return checkpoints_; }
  size_t memory_usage_bytes() const override {
    return sizeof(*this) + checkpoints_.capacity() * sizeof(HybridCheckpoint);
  }

 private:
  std::vector<HybridCheckpoint> checkpoints_;
};

template <typename T>
class RleDecoder final : public BlockDecoder<T> {
 public:
  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    this->count_ = this->position_ = 0;
    ByteReader reader(block);
    uint32_t count;
    if (!reader.ReadFixed(count) || !reader.ReadFixed(this->first_ordinal_)) {
      return DataLoss("rle block: header takes ", kHeaderBytes, " bytes, found ", block.size());
    }
    if (count > 0 && reader.empty()) return DataLoss("rle block of ", count, " values has no runs");
    const auto* index = OfKind<RunsIndex>(view.seek_index);
    runs_.Open(reader.rest(), Hybrid<T>::kWidth,
               index == nullptr ? std::span<const HybridCheckpoint>() : index->checkpoints());
    this->count_ = count;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    assert(position <= this->count_);
    // Nothing can be read after the last value, so a seek to the end need not walk through the
    // runs.
    if (position < this->count_) CFILE_RETURN_IF_ERROR(runs_.SeekTo(position).status());
    this->position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t taken = std::min<size_t>(out.size(), this->count_ - this->position_);
    CFILE_RETURN_IF_ERROR(
        runs_.Read(reinterpret_cast<typename Hybrid<T>::Number*>(out.data()), taken));
    this->position_ += static_cast<uint32_t>(taken);
    return taken;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    // The sign bit is flipped, so that unsigned order is the order of keys.
    constexpr uint64_t kFlip = std::is_signed_v<T> ? uint64_t{1} << (Hybrid<T>::kWidth - 1) : 0;
    const uint64_t number = static_cast<typename Hybrid<T>::Number>(key);
    CFILE_ASSIGN_OR_RETURN(const uint64_t position,
                           runs_.SeekToLowerBound(number ^ kFlip, kFlip, this->count_));
    this->position_ = static_cast<uint32_t>(position);
    LowerBound bound{.position = this->position_, .exact = false};
    if (position < this->count_) {
      CFILE_ASSIGN_OR_RETURN(const uint64_t found, runs_.Peek());
      bound.exact = found == number;
    }
    return bound;
  }

  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    auto checkpoints = runs_.FindCheckpoints(this->count_);
    if (!checkpoints.ok()) return nullptr;
    return std::make_unique<RunsIndex>(*std::move(checkpoints));
  }

 private:
  RleHybridReader runs_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> RleCodec::MakeEncoder(PhysicalType type,
                                                       const EncoderOptions& options) {
  assert(HoldsType<T>(type));
  static_cast<void>(type);
  return std::make_unique<RleEncoder<T>>(options);
}

template <typename T>
std::unique_ptr<BlockDecoder<T>> RleCodec::MakeDecoder(PhysicalType type,
                                                       const DecoderOptions& /*options*/) {
  assert(HoldsType<T>(type));
  static_cast<void>(type);
  return std::make_unique<RleDecoder<T>>();
}

absl::StatusOr<std::vector<BlockField>> RleCodec::Describe(PhysicalType type,
                                                           const DecoderOptions& /*options*/,
                                                           const BlockView& block) {
  BlockDescription description(block.bytes);
  ByteReader& reader = description.reader();
  for (const std::string_view name : {"count", "first ordinal"}) {
    uint32_t number;
    if (!reader.ReadFixed(number)) return DataLoss("rle block of ", block.bytes.size(), " bytes");
    description.Add(name, StrCat(number));
  }
  const size_t value_bytes =
      VisitPhysicalType(type, []<typename T>(std::type_identity<T>) { return sizeof(T); });
  const size_t group_bytes = type == PhysicalType::kBool ? 1 : 8 * value_bytes;
  while (!reader.empty() && !description.full()) {
    uint32_t header;
    if (!reader.ReadVint32(header)) return DataLoss("rle run cut at byte ", reader.offset());
    const bool literal = header % 2 != 0;
    const uint32_t count = header / 2;
    // The last literal run may end before its last group does.
    const uint64_t size =
        literal ? std::min<uint64_t>(uint64_t{count} * group_bytes, reader.remaining())
                : value_bytes;
    if (!reader.Skip(size)) return DataLoss("rle run cut at byte ", reader.offset());
    description.Add(literal ? "literal run" : "repeated run",
                    literal ? StrCat(count, " groups of 8 values") : StrCat(count, " values"));
  }
  return std::move(description).AddRest("further runs");
}

#define CFILE_INSTANTIATE(T)                                                                 \
  template std::unique_ptr<BlockEncoder<T>> RleCodec::MakeEncoder<T>(PhysicalType,           \
                                                                     const EncoderOptions&); \
  template std::unique_ptr<BlockDecoder<T>> RleCodec::MakeDecoder<T>(PhysicalType,           \
                                                                     const DecoderOptions&);
CFILE_INSTANTIATE(bool)
CFILE_FOR_EACH_WORD_INTEGER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
