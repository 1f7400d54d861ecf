#include "cfile/internal/format/feature_bits.h"

#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/column_message.h"
#include "cfile/internal/format/file_policy.h"

namespace cfile::internal {
namespace {

constexpr uint32_t kSupportedFeatures =
    kFeatureChecksums | kFeatureArrayBlocks | kFeatureNestedBlocks | kFeatureExtendedBlocks;
constexpr int kEncryptionBit = 27;  // reserved

}  // namespace

absl::Status CheckFeatures(uint32_t incompatible_features) {
  std::string names;
  for (uint32_t unknown = incompatible_features & ~kSupportedFeatures; unknown != 0;
       unknown &= unknown - 1) {
    const int bit = std::countr_zero(unknown);
    absl::StrAppend(&names, names.empty() ? "" : ", ", "bit ", bit,
                    bit == kEncryptionBit ? " (encryption)" : "");
  }
  if (names.empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("the file needs features that this library does not have: ", names));
}

bool NeedsExtendedBlocks(uint32_t data_type, uint32_t encoding, uint32_t compression) {
  return NeedsExtension(data_type) || NeedsExtension(encoding) || NeedsExtension(compression);
}

bool NeedsExtendedBlocks(const FileInfo& info) {
  return NeedsExtendedBlocks(static_cast<uint32_t>(info.type.data_type),
                             static_cast<uint32_t>(info.encoding),
                             static_cast<uint32_t>(info.compression));
}

uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ) {
  if (!PolicyOf(info.version).features) return 0;
  const bool nested = levels && !info.levels.kudu_array;
  const bool extended = nested || blocks_differ || NeedsExtendedBlocks(info);
  return kFeatureChecksums | (extended ? kFeatureExtendedBlocks : 0) |
         (nested ? kFeatureNestedBlocks : 0) | (levels && !nested ? kFeatureArrayBlocks : 0);
}

}  // namespace cfile::internal
