// Describes the bytes of a block of FOR.
#include "encodings/own/for.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/describe_number.h"
#include "encodings/own/describe_vectors.h"
#include "encodings/own/for_layout.h"

namespace cfile::encodings {
namespace {

template <typename V>
absl::Status DescribeFor(const BlockView& block, BlockDescription& description) {
  using Entry = ForEntry<V>;
  const uint32_t vectors = VectorsOf(block.count);
  const auto describe_rest = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(description.AddByte("width").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("form").status());
    CFILE_RETURN_IF_ERROR(AddNumber<uint16_t>(description, "exceptions"));
    CFILE_RETURN_IF_ERROR(AddNumber<V>(description, "minimum"));
    return AddNumber<V>(description, "maximum");
  };
  CFILE_RETURN_IF_ERROR(
      DescribeVectorTable(block, vectors, Entry::kBytes, description, describe_rest));
  for (uint32_t i = 0; i < vectors; ++i) {
    if (description.full()) {
      description.AddRest("further vectors");
      break;
    }
    const Entry entry = Entry::Load(block.bytes.data() + size_t{i} * Entry::kBytes);
    const size_t count = std::min<size_t>(kVectorValues, block.count - i * kVectorValues);
    if (entry.width > 8 * sizeof(V) || entry.offset != description.reader().offset()) {
      return DataLoss("vector ", i, " of width ", int{entry.width}, " is at byte ", entry.offset,
                      ", expected ", description.reader().offset());
    }
    CFILE_RETURN_IF_ERROR(description.AddBytes(ForPackedBytes(count, entry.width),
                                               "packed differences",
                                               StrCat("vector ", i, ", ", count, " values")));
    if (entry.form == static_cast<uint8_t>(ForForm::kDelta)) {
      CFILE_RETURN_IF_ERROR(AddNumber<V>(description, "first value"));
      CFILE_RETURN_IF_ERROR(AddNumber<V>(description, "least difference"));
      continue;
    }
    if (entry.exceptions == 0) continue;
    CFILE_RETURN_IF_ERROR(AddNumber<V>(description, "reference"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(entry.exceptions * sizeof(uint16_t), "positions of the exceptions"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(entry.exceptions * sizeof(V), "values of the exceptions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ForCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                const BlockView& block, BlockDescription& description) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr (std::is_same_v<T, bool>) {
      return DescribeFor<uint8_t>(block, description);
    } else if constexpr (kIsInteger<T> && sizeof(T) <= 8) {
      return DescribeFor<T>(block, description);
    } else {
      CFILE_ASSERT(false && "not a type of FOR");
      return absl::OkStatus();
    }
  });
}

}  // namespace cfile::encodings
