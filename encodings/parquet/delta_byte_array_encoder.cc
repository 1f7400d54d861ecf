// The encoder of DELTA_BYTE_ARRAY.
#include "encodings/parquet/delta_byte_array.h"

#include <memory>
#include <span>
#include <vector>

#include "encodings/core/back_to_back.h"
#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/kernels/delta_byte_kernels.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array_places.h"
#include "encodings/parquet/delta_length_byte_array.h"

namespace cfile::encodings {
namespace {

class DeltaBytesEncoder final : public PageEncoder<std::string_view> {
 public:
  explicit DeltaBytesEncoder(bool skip_tables) : skip_tables_(skip_tables) {}

  void Encode(std::span<const std::string_view> values, EncodedBlock& block) override {
    const size_t begin = block.bytes.size();
    prefixes_.resize(values.size());
    suffixes_.resize(values.size());
    std::string_view previous;
    for (size_t i = 0; i < values.size();) {
      const BackToBack run = FindBackToBack(values, i);
      const auto some = values.subspan(i, run.end - i);
      prefixes_[i] = static_cast<int32_t>(CommonPrefix(previous, some[0]));
      const size_t vectors = CommonPrefixes(some, run.bytes_end, prefixes_.data() + i);
      for (size_t j = 0; j < some.size(); ++j) {
        auto prefix = static_cast<size_t>(prefixes_[i + j]);
        if (j > 0 && (j >= vectors || prefix == kMaxComparedBytes)) {
          prefix = CommonPrefix(some[j - 1], some[j]);
          prefixes_[i + j] = static_cast<int32_t>(prefix);
        }
        suffixes_[i + j] = {some[j].data() + prefix, some[j].size() - prefix};
      }
      previous = some.back();
      i = run.end;
    }
    prefix_places_.clear();
    places_.clear();
    EncodeDeltaBinaryPacked<int32_t>(prefixes_, {}, block.bytes,
                                     skip_tables_ ? &prefix_places_ : nullptr);
    const auto suffixes = static_cast<uint32_t>(block.bytes.size() - begin);
    const uint32_t data = EncodeDeltaLengthByteArray(suffixes_, values, block.bytes,
                                                     skip_tables_ ? &places_ : nullptr);
    if (places_.empty()) return;
    PutDeltaByteArrayPlaces(suffixes, data, block.bytes.size() - begin, prefix_places_, places_,
                            block.skip_table, [&](size_t number) { return values[number]; });
  }

 private:
  const bool skip_tables_;
  std::vector<int32_t> prefixes_;
  std::vector<std::string_view> suffixes_;
  std::vector<DeltaPlace<int32_t>> prefix_places_;
  std::vector<DeltaLengthPlace> places_;
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> DeltaByteArrayCodec::MakePageEncoder(
    const EncoderOptions& options) {
  return std::make_unique<DeltaBytesEncoder>(options.skip_tables);
}

CFILE_INSTANTIATE_PAGE_ENCODER(DeltaByteArrayCodec, std::string_view)

}  // namespace cfile::encodings
