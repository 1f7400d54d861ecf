// Describes the bytes of a block of COMPACT.
#include "encodings/own/compact.h"

#include <span>
#include <string_view>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/compact_layout.h"
#include "encodings/own/describe_number.h"

namespace cfile::encodings {
namespace {

// Adds the fields of a page. `end`: the byte of the block after the page.
template <typename T>
absl::Status DescribePage(const Transformation<T>& form, bool has_codes, uint32_t page, size_t end,
                          BlockDescription& description) {
  const std::string_view sum = form.line ? "begin of the line" : "sum";
  for (size_t i = 0; i < form.sums(); ++i)
    CFILE_RETURN_IF_ERROR(AddNumber<CompactNumber<T>>(description, sum));
  if (form.decimals) CFILE_RETURN_IF_ERROR(AddNumber<uint16_t>(description, "exceptions"));
  if (has_codes) {
    uint16_t bytes = 0;
    if (!description.reader().ReadFixed(bytes)) return DataLoss("the size of the codes is cut off");
    description.Add("size of the codes", StrCat(bytes));
    CFILE_RETURN_IF_ERROR(description.AddBytes(bytes, "codes of the bins", StrCat("page ", page)));
  }
  const size_t at = description.reader().offset();
  if (at > end) return DataLoss("page ", page, " ends at byte ", end, ", expected at least ", at);
  return description.AddBytes(end - at, form.decimals ? "offsets and exceptions" : "offsets");
}

template <typename T>
absl::Status DescribeCompact(const BlockView& block, BlockDescription& description) {
  using U = CompactNumber<T>;
  if (block.count == 0) return absl::OkStatus();
  Transformation<T> form;
  CFILE_ASSIGN_OR_RETURN(const uint32_t flags, description.AddByte("transformation"));
  if (!form.SetFlags(static_cast<uint8_t>(flags))) return DataLoss(flags, " is no transformation");
  CFILE_RETURN_IF_ERROR(description.AddByte("log of the number of states").status());
  CFILE_ASSIGN_OR_RETURN(const uint32_t last_bin, description.AddByte("bins - 1"));
  CFILE_RETURN_IF_ERROR(description.AddByte("decimals").status());
  if (form.line) CFILE_RETURN_IF_ERROR(AddNumber<U>(description, "slope"));
  if (form.multiples) {
    CFILE_RETURN_IF_ERROR(AddNumber<U>(description, "factor"));
    CFILE_RETURN_IF_ERROR(AddNumber<U>(description, "addend"));
  }
  const bool has_codes = last_bin > 0;
  const size_t bin_bytes = sizeof(U) + 1 + (has_codes ? sizeof(uint16_t) : 0);
  uint32_t bin = 0;
  for (; bin <= last_bin && !description.full(); ++bin) {
    CFILE_RETURN_IF_ERROR(AddNumber<U>(description, "lower bound of a bin"));
    description.BeginStructure();
    CFILE_RETURN_IF_ERROR(description.AddByte("width").status());
    if (has_codes) CFILE_RETURN_IF_ERROR(AddNumber<uint16_t>(description, "weight"));
    description.EndStructure();
  }
  CFILE_RETURN_IF_ERROR(description.AddBytes((last_bin + 1 - bin) * bin_bytes, "further bins"));
  const uint32_t pages = VectorsOf(block.count);
  const std::span<const uint8_t> table = description.reader().rest();
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(pages, "offsets of the pages"));
  for (uint32_t page = 0; page < pages; ++page) {
    if (description.full()) {
      description.AddRest("further pages");
      break;
    }
    const size_t end =
        page + 1 == pages
            ? block.bytes.size()
            : LoadLittleEndian<uint32_t>(table.data() + (page + 1) * sizeof(uint32_t));
    CFILE_RETURN_IF_ERROR(DescribePage(form, has_codes, page, end, description));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompactCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                    const BlockView& block, BlockDescription& description) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr ((kIsInteger<T> && sizeof(T) <= 8) || kIsFloat<T>) {
      return DescribeCompact<T>(block, description);
    } else {
      CFILE_ASSERT(false && "not a type of COMPACT");
      return absl::OkStatus();
    }
  });
}

}  // namespace cfile::encodings
