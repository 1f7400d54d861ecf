#include "encodings/value_places.h"

#include <algorithm>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/alp_rd.h"
#include "encodings/own/alp_rd_layout.h"
#include "encodings/own/for.h"
#include "encodings/own/for_layout.h"

namespace cfile::encodings {
namespace {

using Need = absl::FunctionRef<absl::Status(uint64_t begin, uint64_t end)>;

// PLAIN: a header of 8 bytes, then the values without gaps. A bool takes one bit.
absl::Status VisitPlain(PhysicalType type, uint32_t type_length, uint32_t position, Need need) {
  constexpr uint64_t kHeaderBytes = 8;
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    const uint64_t width = kIsBytes<T> ? type_length : sizeof(T);
    const uint64_t before = std::is_same_v<T, bool> ? position / 8 : position * width;
    return need(kHeaderBytes + before, kHeaderBytes + before + width);
  });
}

// FOR and ALP_RD: a table with an entry for each vector, then the vectors. A vector ends where the
// next vector begins, or at the end of the block.
template <typename Entry>
absl::Status VisitVector(const BlockView& block, uint32_t position, Need need) {
  const uint64_t index = position / kVectorValues;
  const bool last = index + 1 == VectorsOf(block.count);
  const uint64_t entry = index * Entry::kBytes;
  CFILE_RETURN_IF_ERROR(need(entry, entry + (last ? 1 : 2) * Entry::kBytes));
  const uint8_t* const at = block.bytes.data() + entry;
  const uint64_t begin = Entry::Load(at).offset;
  const uint64_t end = last ? block.bytes.size() : Entry::Load(at + Entry::kBytes).offset;
  if (begin >= end || end > block.bytes.size()) return absl::OkStatus();
  return need(begin, end);
}

absl::Status VisitFor(PhysicalType type, const BlockView& block, uint32_t position, Need need) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (!std::is_integral_v<T> || sizeof(T) > sizeof(uint64_t)) {
      CFILE_ASSERT(false && "FOR has no values of this type");
      return absl::OkStatus();
    } else {
      return VisitVector<ForEntry<T>>(block, position, need);
    }
  });
}

}  // namespace

bool HasValuePlaces(Encoding encoding, PhysicalType type) {
  if (encoding == Encoding::kPlain) return type != PhysicalType::kBytes;
  return (encoding == Encoding::kFor && ForCodec::Supports(type)) ||
         (encoding == Encoding::kAlpRd && AlpRdCodec::Supports(type));
}

absl::Status VisitValuePlaces(Encoding encoding, PhysicalType type, uint32_t type_length,
                              const BlockView& block, uint32_t position, Need need) {
  CFILE_ASSERT(HasValuePlaces(encoding, type) && position < block.count);
  if (encoding == Encoding::kPlain) return VisitPlain(type, type_length, position, need);
  if (encoding == Encoding::kAlpRd) return VisitVector<AlpRdEntry>(block, position, need);
  return VisitFor(type, block, position, need);
}

}  // namespace cfile::encodings
