#include "cfile/internal/feature_bits.h"

#include <bit>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"

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

}  // namespace cfile::internal
