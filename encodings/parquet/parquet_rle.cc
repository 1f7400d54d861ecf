#include "encodings/parquet/parquet_rle.h"

#include <algorithm>
#include <cstring>

#include "encodings/hybrid/describe_runs.h"
#include "encodings/hybrid/hybrid_decoder.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kernels/bool_bits.h"

namespace cfile::encodings {
namespace {

constexpr size_t kRleLengthBytes = 4;

class RlePageEncoder final : public PageEncoder<bool> {
 public:
  void Encode(std::span<const bool> values, EncodedBlock& block) override {
    // For a whole page this is faster than PutValues.
    bits_.Clear();
    PackBools(values, bits_.Extend(static_cast<size_t>(BitmapBytes(values.size()))));
    for (size_t i = 0; i < values.size(); i += 64) {
      const size_t count = std::min<size_t>(64, values.size() - i);
      uint64_t word = 0;
      std::memcpy(&word, bits_.data() + i / 8, static_cast<size_t>(BitmapBytes(count)));
      runs_.PutBits(word, static_cast<int>(count));
    }
    const size_t begin = block.bytes.size();
    block.bytes.Extend(kRleLengthBytes);
    runs_.Finish(block.bytes, LastGroup::kWhole);
    StoreLittleEndian(static_cast<uint32_t>(block.bytes.size() - begin - kRleLengthBytes),
                      block.bytes.data() + begin);
  }

 private:
  ByteWriter bits_;
  RleHybridEncoder runs_{1, /*kudu_exact=*/false};
};

class RlePageDecoder final : public HybridDecoder<bool> {
 public:
  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    ByteReader reader(block.bytes);
    std::span<const uint8_t> runs;
    if (block.count > 0 || !reader.empty()) {
      uint32_t length;
      if (!reader.ReadFixed(length)) {
        return DataLoss("parquet-rle: a page of ", block.bytes.size(),
                        " bytes has no room for its length of ", kRleLengthBytes, " bytes");
      }
      if (!reader.ReadBytes(length, runs)) {
        return DataLoss("parquet-rle: expected ", length, " bytes of runs at byte ",
                        kRleLengthBytes, ", found ", block.bytes.size() - kRleLengthBytes);
      }
    }
    runs_.Open(runs, 1, RunsIndex::CheckpointsOf(block.seek_index));
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ParquetRleCodec::MakePageEncoder(
    const EncoderOptions& /*options*/) {
  return std::make_unique<RlePageEncoder>();
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ParquetRleCodec::MakePageDecoder(
    const DecoderOptions& /*options*/) {
  return std::make_unique<RlePageDecoder>();
}

absl::Status ParquetRleCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                       const BlockView& block, BlockDescription& description) {
  const ByteReader& reader = description.reader();
  if (block.count == 0 && reader.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const uint32_t size, description.AddFixed32("size of the runs"));
  if (size > reader.remaining()) {
    return DataLoss("the runs take ", size, " bytes, found ", reader.remaining());
  }
  return DescribeRuns(1, block.count, size, description);
}

CFILE_INSTANTIATE_PAGE_ENCODER(ParquetRleCodec, bool)
CFILE_INSTANTIATE_PAGE_DECODER(ParquetRleCodec, bool)

}  // namespace cfile::encodings
