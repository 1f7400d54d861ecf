// The encoder of DELTA_BINARY_PACKED.
#include "encodings/parquet/delta_binary_packed.h"

#include <algorithm>
#include <type_traits>

#include "encodings/core/assert.h"

namespace cfile::encodings {

template <typename T>
void EncodeDeltaBinaryPacked(std::span<const T> values, const DeltaBlockShape& shape,
                             ByteWriter& out, std::vector<DeltaPlace<T>>* places) {
  using U = std::make_unsigned_t<T>;
  CFILE_ASSERT(shape.miniblocks > 0 && shape.block_size % (8 * shape.miniblocks) == 0);
  CFILE_ASSERT(places == nullptr || kSkipInterval % shape.block_size == 0);
  const size_t begin = out.size();
  out.PutVint(shape.block_size);
  out.PutVint(shape.miniblocks);
  out.PutVint(values.size());
  out.PutVint(ZigZagEncode(values.empty() ? 0 : values[0]));
  const size_t miniblock_size = shape.block_size / shape.miniblocks;
  const std::unique_ptr<T[]> deltas(new T[shape.block_size]);
  const std::unique_ptr<U[]> ranges(new U[shape.miniblocks]);
  for (size_t next = 1; next < values.size(); next += shape.block_size) {
    const size_t count = std::min<size_t>(shape.block_size, values.size() - next);
    const T least =
        MakeDeltas<T>(values.data() + next, count, miniblock_size, deltas.get(), ranges.get());
    // Grow the buffer at most once per block.
    out.ReserveMore(kMaxVint64Bytes + shape.miniblocks + shape.block_size * sizeof(T) +
                    kDeltaWriteAhead);
    out.PutVint(ZigZagEncode(least));
    uint8_t* const widths = out.Extend(shape.miniblocks);
    const size_t used = (count + miniblock_size - 1) / miniblock_size;
    std::fill(widths + used, widths + shape.miniblocks, uint8_t{0});
    out.Extend(PackDeltas<T>(deltas.get(), least, ranges.get(), used, miniblock_size / 8, widths,
                             widths + shape.miniblocks));
    const size_t last = next + count - 1;
    if (places != nullptr && last % kSkipInterval == 0)
      places->push_back({static_cast<uint32_t>(out.size() - begin), values[last]});
  }
}

namespace {

template <typename T>
class DeltaPageEncoder final : public PageEncoder<T> {
 public:
  DeltaPageEncoder(const DeltaBlockShape& shape, bool skip_tables)
      : shape_(shape), skip_tables_(skip_tables && kSkipInterval % shape.block_size == 0) {}

  void Encode(std::span<const T> values, EncodedBlock& block) override {
    places_.clear();
    EncodeDeltaBinaryPacked<T>(values, shape_, block.bytes, skip_tables_ ? &places_ : nullptr);
    for (const DeltaPlace<T>& place : places_) {
      block.skip_table.PutFixed(place.offset);
      block.skip_table.PutFixed(place.value);
    }
  }

 private:
  const DeltaBlockShape shape_;
  const bool skip_tables_;
  std::vector<DeltaPlace<T>> places_;
};

}  // namespace

template <typename T>
std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder(const DeltaBlockShape& shape,
                                                             bool skip_tables) {
  return std::make_unique<DeltaPageEncoder<T>>(shape, skip_tables);
}

#define CFILE_INSTANTIATE_DELTA(T)                                                                 \
  template void EncodeDeltaBinaryPacked<T>(std::span<const T>, const DeltaBlockShape&,             \
                                           ByteWriter&, std::vector<DeltaPlace<T>>*);              \
  template std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder<T>(const DeltaBlockShape&, \
                                                                           bool);
CFILE_INSTANTIATE_DELTA(int32_t)
CFILE_INSTANTIATE_DELTA(int64_t)
#undef CFILE_INSTANTIATE_DELTA

}  // namespace cfile::encodings
