// The decoder and the description of ALP_RD.
#include "encodings/own/alp_rd.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "encodings/kernels/alp_rd_kernel.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/alp_rd_layout.h"
#include "encodings/own/describe_vectors.h"
#include "encodings/own/vector_decoder.h"
#include "encodings/own/vector_table.h"

namespace cfile::encodings {
namespace {

constexpr std::string_view kName = AlpRdCodec::kName;

// A vector whose entry and size have been checked.
template <typename V>
struct AlpRdVector {
  using U = V;

  const uint8_t* bases;
  std::span<const uint8_t> packed;
  VectorExceptions exceptions;  // after their positions, their high parts follow
  uint32_t count;               // the number of values
  AlpRdForm form;

  U base(size_t code) const { return LoadLittleEndian<U>(bases + code * sizeof(U)); }
  // Returns what an exception adds to the value that its number gives.
  U addend(uint32_t exception) const {
    const size_t bytes = AlpRdHighBytes<U>(form);
    const uint8_t* const end =
        exceptions.positions + exceptions.count * sizeof(uint16_t) + (exception + 1) * bytes;
    // The word that ends with the high part also has bytes before it, which belong to the vector.
    const U high =
        static_cast<U>(LoadLittleEndian<U>(end - sizeof(U)) >> (8 * (sizeof(U) - bytes)));
    return static_cast<U>(high << form.covered());
  }
  U Decode(U number) const {
    const size_t code = form.code_width == 0 ? 0 : static_cast<size_t>(number >> form.offset_width);
    const U offset = number & static_cast<U>(LowBits(form.offset_width));
    return static_cast<U>(base(code) + (offset << form.shift));
  }
  // Precondition: index < count.
  U value(uint32_t index) const {
    const U number = count == kVectorValues
                         ? UnpackOneInterleaved<U>(packed.data(), form.width(), index)
                         : static_cast<U>(UnpackOne(packed, form.width(), index));
    const uint32_t exception = exceptions.Find(index);
    return static_cast<U>(Decode(number) + (exception < exceptions.count ? addend(exception) : 0));
  }
  void Prefetch(uint32_t index) const {
    __builtin_prefetch(bases);
    PrefetchInterleaved<U>(packed.data(), form.width(), index);
  }
  static uint32_t FewValues() { return 16; }
};

// The table of a block. The bytes of the block belong to the caller of Open.
template <typename V>
class AlpRdTable : public VectorTable<AlpRdEntry> {
 public:
  using U = V;
  using Vector = AlpRdVector<U>;

  // kDataLoss: see VectorTable::OpenTable.
  absl::Status Open(const BlockView& block) { return OpenTable(block, kName); }

  // Preconditions of the functions below: index < size().

  // Checks the entry and the size of vector `index`, and sets `vector`. Does not check the
  // positions of the exceptions. Returns false if the vector is damaged: Damage returns the error.
  bool Find(uint32_t index, Vector& vector) const {
    const AlpRdEntry entry = LoadEntry(index);
    const uint32_t count = CountOf(index);
    if (!HasForm(entry) || entry.exceptions > MostExceptions(entry, count) ||
        !HasPlace(index, entry, BytesOf(entry, count))) {
      return false;
    }
    const AlpRdForm form = entry.form();
    const uint8_t* const bases = bytes().data() + entry.offset;
    const uint8_t* const packed = bases + form.bases() * sizeof(U);
    const size_t packed_bytes = AlpRdPackedBytes(form, count);
    vector = {.bases = bases,
              .packed = {packed, packed_bytes},
              .exceptions = {packed + packed_bytes, entry.exceptions},
              .count = count,
              .form = form};
    return true;
  }

  // Returns the error of a vector for which Find has returned false.
  [[gnu::cold]] absl::Status Damage(uint32_t index) const {
    const AlpRdEntry entry = LoadEntry(index);
    const uint32_t count = CountOf(index);
    if (!HasForm(entry)) {
      return DamageOf(index, kName, 4, "codes of ", int{entry.code_width}, " bits, offsets of ",
                      int{entry.offset_width}, " bits, and a shift of ", int{entry.shift},
                      " bits do not fit in ", kBits, " bits");
    }
    const uint32_t most = MostExceptions(entry, count);
    if (entry.exceptions > most) {
      return DamageOf(index, kName, 7, int{entry.exceptions}, " exceptions among ", count,
                      " values, expected at most ", most);
    }
    return PlaceDamageOf(index, kName, BytesOf(entry, count));
  }

 private:
  static constexpr int kBits = 8 * sizeof(U);

  // True if the form fulfils the preconditions of the kernels (alp_rd_kernel.h).
  static bool HasForm(const AlpRdEntry& entry) {
    const AlpRdForm form = entry.form();
    return form.code_width <= AlpRdForm::kMaxCodeWidth && form.width() <= kBits &&
           form.shift < kBits && form.covered() <= kBits &&
           (form.code_width == 0 || form.covered() < kBits);
  }
  // An exception needs bits above those that its offset covers.
  static uint32_t MostExceptions(const AlpRdEntry& entry, uint32_t count) {
    return entry.form().covered() < kBits ? count : 0;
  }
  static size_t BytesOf(const AlpRdEntry& entry, uint32_t count) {
    return AlpRdVectorBytes<U>(entry.form(), count, entry.exceptions);
  }
};

template <typename T>
class AlpRdDecoder final : public VectorDecoder<T, AlpRdTable<AlpRdLane<T>>> {
 public:
  using Base = VectorDecoder<T, AlpRdTable<AlpRdLane<T>>>;
  using U = AlpRdLane<T>;
  using Vector = AlpRdVector<U>;

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    this->position_ = 0;
    uint32_t damaged = kNone;
    uint32_t found = kNone;
    Vector vector;
    const LowerBound bound = this->SeekToKeyInPlace(key, [&](uint32_t position) {
      const uint32_t index = position / kValues;
      if (index != found) {
        found = table_.Find(index, vector) ? index : kNone;
        if (found == kNone) damaged = index;
      }
      return found == kNone ? T{} : FromBits<T>(vector.value(position % kValues));
    });
    if (damaged != kNone) return table_.Damage(damaged);
    return bound;
  }

 private:
  using Base::kNone;
  using Base::kValues;
  using Base::table_;

  absl::Status Decode(uint32_t index, const Vector& vector, U* out) const override {
    if (vector.count == kVectorValues) {
      U bases[AlpRdForm::kMaxBases];
      std::memcpy(bases, vector.bases, vector.form.bases() * sizeof(U));
      AlpRdDecode<U>(vector.packed.data(), vector.form, bases, out);
    } else {
      UnpackBits<U>(vector.packed, vector.form.width(), 0, out, vector.count);
      for (uint32_t i = 0; i < vector.count; ++i) out[i] = vector.Decode(out[i]);
    }
    return vector.exceptions.Visit(kName, index, vector.count, [&](uint16_t position, uint32_t i) {
      out[position] = static_cast<U>(out[position] + vector.addend(i));
    });
  }
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> AlpRdCodec::MakeDecoder(PhysicalType /*type*/,
                                                         const DecoderOptions& /*options*/) {
  return std::make_unique<AlpRdDecoder<T>>();
}

CFILE_INSTANTIATE_DECODER(AlpRdCodec, float)
CFILE_INSTANTIATE_DECODER(AlpRdCodec, double)

absl::Status AlpRdCodec::VisitValuePlaces(PhysicalType /*type*/, uint32_t /*type_length*/,
                                          const BlockView& block, uint32_t position,
                                          NeedBytes need) {
  return VisitVector<AlpRdEntry>(block, position, need);
}

namespace {

template <typename T>
absl::Status DescribeAlpRd(const BlockView& block, BlockDescription& description) {
  using U = AlpRdLane<T>;
  const auto describe_rest = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(description.AddByte("width of a code").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("width of an offset").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("shift").status());
    return description.AddFixed<uint16_t>("exceptions").status();
  };
  const auto describe_vector = [&](const AlpRdEntry& entry, size_t count, std::string text) {
    const AlpRdForm form = entry.form();
    constexpr int kBits = 8 * sizeof(U);
    if (form.code_width > AlpRdForm::kMaxCodeWidth || form.width() > kBits ||
        form.covered() > kBits) {
      return DataLoss(text, ": numbers of ", form.width(), " bits");
    }
    CFILE_RETURN_IF_ERROR(description.AddBytes(form.bases() * sizeof(U), "bases", std::move(text)));
    CFILE_RETURN_IF_ERROR(description.AddBytes(AlpRdPackedBytes(form, count), "packed numbers"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(entry.exceptions * sizeof(uint16_t), "positions of the exceptions"));
    return description.AddBytes(entry.exceptions * AlpRdHighBytes<U>(form),
                                "high parts of the exceptions");
  };
  return DescribeVectors<AlpRdEntry>(block, description, describe_rest, describe_vector);
}

}  // namespace

absl::Status AlpRdCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                  const BlockView& block, BlockDescription& description) {
  return type == PhysicalType::kFloat ? DescribeAlpRd<float>(block, description)
                                      : DescribeAlpRd<double>(block, description);
}

}  // namespace cfile::encodings
