// Describes the bytes of a block of ALP_RD.
#include "encodings/own/alp_rd.h"

#include <algorithm>

#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/alp_rd_layout.h"
#include "encodings/own/describe_number.h"
#include "encodings/own/describe_vectors.h"

namespace cfile::encodings {
namespace {

template <typename T>
absl::Status DescribeAlpRd(const BlockView& block, BlockDescription& description) {
  using U = AlpRdLane<T>;
  using Entry = AlpRdEntry;
  const uint32_t vectors = VectorsOf(block.count);
  const auto describe_rest = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(description.AddByte("width of a code").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("width of an offset").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("shift").status());
    return AddNumber<uint16_t>(description, "exceptions");
  };
  CFILE_RETURN_IF_ERROR(
      DescribeVectorTable(block, vectors, Entry::kBytes, description, describe_rest));
  for (uint32_t i = 0; i < vectors; ++i) {
    if (description.full()) {
      description.AddRest("further vectors");
      break;
    }
    const Entry entry = Entry::Load(block.bytes.data() + size_t{i} * Entry::kBytes);
    const AlpRdForm form = entry.form();
    const size_t count = std::min<size_t>(kVectorValues, block.count - i * kVectorValues);
    constexpr int kBits = 8 * sizeof(U);
    if (form.code_width > AlpRdForm::kMaxCodeWidth || form.width() > kBits ||
        form.covered() > kBits || entry.offset != description.reader().offset()) {
      return DataLoss("vector ", i, " has numbers of ", form.width(), " bits and is at byte ",
                      entry.offset, ", expected ", description.reader().offset());
    }
    CFILE_RETURN_IF_ERROR(description.AddBytes(form.bases() * sizeof(U), "bases",
                                               StrCat("vector ", i, ", ", count, " values")));
    CFILE_RETURN_IF_ERROR(description.AddBytes(AlpRdPackedBytes(form, count), "packed numbers"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(entry.exceptions * sizeof(uint16_t), "positions of the exceptions"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(entry.exceptions * AlpRdHighBytes<U>(form),
                                               "high parts of the exceptions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AlpRdCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                  const BlockView& block, BlockDescription& description) {
  return type == PhysicalType::kFloat ? DescribeAlpRd<float>(block, description)
                                      : DescribeAlpRd<double>(block, description);
}

}  // namespace cfile::encodings
