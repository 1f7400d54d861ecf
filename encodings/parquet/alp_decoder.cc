// The decoder of ALP pages.
#include "encodings/parquet/alp.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/alp_kernel.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

constexpr size_t kHeaderBytes = 7;
constexpr int kMinLogSize = 3;
constexpr int kMaxLogSize = 15;

// Size of a vector's header: exponent, factor, number of exceptions, frame of reference, width.
template <typename T>
constexpr size_t kVectorHeaderBytes = 5 + sizeof(T);

template <typename T>
class AlpDecoder final : public BlockDecoder<T> {
 public:
  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    this->first_ordinal_ = block.first_ordinal;
    held_ = read_from_ = kNone;
    data_ = {};
    // A page without values may have no bytes at all.
    if (block.count == 0 && block.bytes.empty()) return absl::OkStatus();
    ByteReader reader(block.bytes);
    uint8_t mode, integers, log_size;
    uint32_t count;
    if (!reader.ReadFixed(mode) || !reader.ReadFixed(integers) || !reader.ReadFixed(log_size) ||
        !reader.ReadFixed(count)) {
      return DataLoss("alp: a page of ", block.bytes.size(),
                      " bytes has no room for its header of ", kHeaderBytes, " bytes");
    }
    if (mode != 0) return DataLoss("alp: mode ", int{mode}, " at byte 0, expected 0");
    if (integers != 0) {
      return DataLoss("alp: integer encoding ", int{integers}, " at byte 1, expected 0");
    }
    if (log_size < kMinLogSize || log_size > kMaxLogSize) {
      return DataLoss("alp: vectors of 2^", int{log_size}, " values at byte 2, expected 2^",
                      kMinLogSize, " to 2^", kMaxLogSize);
    }
    if (count != block.count || count > INT32_MAX) {
      return DataLoss("alp: ", count, " values at byte 3, expected ", block.count);
    }
    log_size_ = log_size;
    data_ = reader.rest();
    num_vectors_ = static_cast<uint32_t>((uint64_t{count} + VectorSize() - 1) >> log_size);
    if (OffsetsBytes() > data_.size()) {
      return DataLoss("alp: the offsets of ", num_vectors_, " vectors at byte ", kHeaderBytes,
                      " take ", OffsetsBytes(), " bytes, found ", data_.size());
    }
    this->count_ = count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t wanted = this->Left(out.size());
    uint32_t position = this->position_;
    for (size_t done = 0; done < wanted;) {
      const uint32_t index = position >> log_size_;
      const uint32_t first = position & (VectorSize() - 1);
      const uint32_t size = SizeOf(index);
      const size_t taken = std::min<size_t>(size - first, wanted - done);
      if (taken == size) {
        CFILE_RETURN_IF_ERROR(Decode(index, 0, size, out.data() + done));
      } else if (taken == 1 && index != held_ && index != read_from_) {
        // The first value that is read alone. If a second one is read, the vector is decoded.
        read_from_ = index;
        const uint32_t group = first / kGroup * kGroup;
        T values[kGroup];
        CFILE_RETURN_IF_ERROR(Decode(index, group, std::min(kGroup, size - group), values));
        out[done] = values[first - group];
      } else {
        // Decode the whole vector: the rest of it is likely to be read next.
        if (held_ != index) {
          held_ = kNone;
          if (buffer_.size() < size) buffer_.resize(size);
          CFILE_RETURN_IF_ERROR(Decode(index, 0, size, buffer_.data()));
          held_ = index;
        }
        std::memcpy(out.data() + done, buffer_.data() + first, taken * sizeof(T));
      }
      done += taken;
      position += static_cast<uint32_t>(taken);
    }
    this->position_ = position;
    return wanted;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    return SeekToKeyByReading<T>(*this, key);
  }

 private:
  using Traits = AlpTraits<T>;
  using Integer = typename Traits::Integer;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kGroup = 8;  // values whose packed bits are whole bytes

  uint32_t VectorSize() const { return uint32_t{1} << log_size_; }
  uint64_t OffsetsBytes() const { return uint64_t{num_vectors_} * sizeof(uint32_t); }
  // The number of values of a vector. All vectors but the last are full.
  uint32_t SizeOf(uint32_t index) const {
    return std::min(VectorSize(), this->count_ - (index << log_size_));
  }
  uint64_t OffsetOf(uint32_t index) const {
    if (index == num_vectors_) return data_.size();
    return LoadLittleEndian<uint32_t>(data_.data() + size_t{index} * sizeof(uint32_t));
  }

  // Checks a vector and decodes `count` of its SizeOf(index) values, from value `first` on, to
  // `out`. Precondition: `first` is a multiple of kGroup.
  absl::Status Decode(uint32_t index, uint32_t first, uint32_t count, T* out) {
    const uint32_t size = SizeOf(index);
    const uint64_t begin = OffsetOf(index);
    const uint64_t end = OffsetOf(index + 1);
    const auto damaged = [&](const auto&... what) {
      return DataLoss("alp: vector ", index, " of ", num_vectors_, ", at byte ",
                      kHeaderBytes + begin, ": ", what...);
    };
    if (begin < OffsetsBytes() || (index == 0 && begin != OffsetsBytes()) || end > data_.size() ||
        begin > end) {
      return damaged("it ends at byte ", kHeaderBytes + end, "; vectors lie in bytes ",
                     kHeaderBytes + OffsetsBytes(), " to ", kHeaderBytes + data_.size(),
                     " without gaps");
    }
    ByteReader reader(data_.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    AlpPair pair;
    uint16_t exceptions;
    Integer frame;
    uint8_t width;
    if (!reader.ReadFixed(pair.exponent) || !reader.ReadFixed(pair.factor) ||
        !reader.ReadFixed(exceptions) || !reader.ReadFixed(frame) || !reader.ReadFixed(width)) {
      return damaged("its header takes ", kVectorHeaderBytes<T>, " bytes, found ", end - begin);
    }
    if (pair.exponent > Traits::kMaxExponent || pair.factor > pair.exponent) {
      return damaged("exponent ", int{pair.exponent}, " and factor ", int{pair.factor},
                     ", expected at most ", Traits::kMaxExponent, " and at most the exponent");
    }
    if (width > 8 * sizeof(T)) {
      return damaged("width ", int{width}, ", expected at most ", 8 * sizeof(T));
    }
    if (exceptions > size) {
      return damaged("it has ", exceptions, " exceptions, but only ", size, " values");
    }
    const uint64_t packed_bytes = PackedBytes(size, width);
    const uint64_t body_bytes =
        packed_bytes + uint64_t{exceptions} * (sizeof(uint16_t) + sizeof(T));
    if (body_bytes != reader.remaining()) {
      return damaged(body_bytes, " bytes expected after its header, found ", reader.remaining());
    }
    const uint8_t* const packed = reader.rest().data();
    const uint8_t* const positions = packed + packed_bytes;
    const uint8_t* const values = positions + size_t{exceptions} * sizeof(uint16_t);
    // Wide loads may also read the bytes of the page after the integers.
    AlpDecode(std::span(packed + first / kGroup * width, data_.data() + data_.size()), width, frame,
              pair, out, count);
    for (size_t i = 0; i < exceptions; ++i) {
      const uint16_t at = LoadLittleEndian<uint16_t>(positions + i * sizeof(uint16_t));
      if (at >= size) return damaged("exception ", i, " is for value ", at, " of ", size);
      if (at - first < count) std::memcpy(out + (at - first), values + i * sizeof(T), sizeof(T));
    }
    return absl::OkStatus();
  }

  std::span<const uint8_t> data_;  // begins with the first offset; offsets count from here
  int log_size_ = kMinLogSize;
  uint32_t num_vectors_ = 0;
  // The index of the vector that was last decoded into buffer_. kNone: no vector.
  uint32_t held_ = kNone;
  uint32_t read_from_ = kNone;  // the vector from which a value was last read alone
  std::vector<T> buffer_;
};

}  // namespace

template <typename P>
std::unique_ptr<BlockDecoder<P>> AlpCodec::MakePageDecoder(const DecoderOptions& /*options*/) {
  return std::make_unique<AlpDecoder<P>>();
}

namespace {

// Adds a field for each vector of values of type T. `offsets`: the stored offsets of the vectors,
// which the description has just added. An offset counts from the first byte of `offsets`.
template <typename T>
absl::Status AddVectors(std::span<const uint8_t> offsets, BlockDescription& description) {
  const size_t begin = description.reader().offset() - offsets.size();
  const size_t num_vectors = offsets.size() / sizeof(uint32_t);
  const size_t end = description.reader().offset() + description.reader().remaining();
  for (size_t i = 0; i < num_vectors && !description.full(); ++i) {
    const bool last = i + 1 == num_vectors;
    const uint64_t vector_end =
        last ? end
             : begin + LoadLittleEndian<uint32_t>(offsets.data() + (i + 1) * sizeof(uint32_t));
    const size_t vector_begin = description.reader().offset();
    ByteReader header(description.reader().rest());
    AlpPair pair;
    uint16_t exceptions;
    typename AlpTraits<T>::Unsigned frame;
    uint8_t width;
    if (vector_end < vector_begin + kVectorHeaderBytes<T> || vector_end > end ||
        !header.ReadFixed(pair.exponent) || !header.ReadFixed(pair.factor) ||
        !header.ReadFixed(exceptions) || !header.ReadFixed(frame) || !header.ReadFixed(width)) {
      return DataLoss("vector ", i, " at byte ", vector_begin, " ends at byte ", vector_end,
                      ", expected at least ", kVectorHeaderBytes<T>, " bytes and at most byte ",
                      end);
    }
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(vector_end - vector_begin, "vector",
                             StrCat("exponent ", int{pair.exponent}, ", factor ", int{pair.factor},
                                    ", ", exceptions, " exceptions, width ", int{width})));
  }
  description.AddRest("further vectors");
  return absl::OkStatus();
}

}  // namespace

absl::Status AlpCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                const BlockView& block, BlockDescription& description) {
  if (block.count == 0 && block.bytes.empty()) return absl::OkStatus();
  CFILE_RETURN_IF_ERROR(description.AddByte("mode").status());
  CFILE_RETURN_IF_ERROR(description.AddByte("integer encoding").status());
  CFILE_ASSIGN_OR_RETURN(const uint32_t log_size, description.AddByte("log2 of the vector size"));
  CFILE_ASSIGN_OR_RETURN(const uint32_t count, description.AddFixed32("count"));
  if (log_size > kMaxLogSize) return DataLoss("vectors of 2^", log_size, " values");
  const uint64_t size = uint64_t{1} << log_size;
  const uint64_t num_vectors = (count + size - 1) / size;
  const std::span<const uint8_t> rest = description.reader().rest();
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(num_vectors, "offsets of the vectors"));
  const auto offsets = rest.first(static_cast<size_t>(num_vectors) * sizeof(uint32_t));
  return type == PhysicalType::kFloat ? AddVectors<float>(offsets, description)
                                      : AddVectors<double>(offsets, description);
}

CFILE_INSTANTIATE_PAGE_DECODER(AlpCodec, float)
CFILE_INSTANTIATE_PAGE_DECODER(AlpCodec, double)

}  // namespace cfile::encodings
