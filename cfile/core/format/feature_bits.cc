#include "cfile/core/format/feature_bits.h"

#include <bit>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/format/file_policy.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr uint32_t kSupportedFeatures = kFeatureChecksums | kFeatureArrayBlocks | kFeaturePieces |
                                        kFeatureOwnEncodings | kFeatureMovableBlocks |
                                        kFeatureNestedBlocks | kFeatureExtendedBlocks;
constexpr uint32_t kSupportedTableFeatures = kTableFeatureNullableKeys | kTableFeatureChunks |
                                             kTableFeatureColumnIds | kTableFeatureMetadata |
                                             kTableFeaturePacked | kTableFeatureMergeRule |
                                             kTableFeatureDeletedColumn | kTableFeatureTimeColumn;

// A bit that has a purpose but no meaning yet.
struct ReservedBit {
  int bit;
  absl::string_view purpose;
};
constexpr ReservedBit kEncryption = {27, "encryption"};
constexpr ReservedBit kDeletedRows = {0, "deleted rows"};  // of a table

// `unknown`: the bits that this library does not know.
absl::Status Refuse(absl::string_view what, uint32_t unknown, const ReservedBit& reserved) {
  if (unknown == 0) return absl::OkStatus();
  std::string names;
  for (; unknown != 0; unknown &= unknown - 1) {
    const int bit = std::countr_zero(unknown);
    absl::StrAppend(&names, names.empty() ? "" : ", ", "bit ", bit);
    if (bit == reserved.bit) absl::StrAppend(&names, " (", reserved.purpose, ")");
  }
  return absl::UnimplementedError(
      StrCat("the ", what, " needs features that this library does not have: ", names));
}

}  // namespace

absl::Status CheckFeatures(uint32_t incompatible_features) {
  return Refuse("file", incompatible_features & ~kSupportedFeatures, kEncryption);
}

absl::Status CheckTableFeatures(uint32_t incompatible_features) {
  return Refuse("table", incompatible_features & ~kSupportedTableFeatures, kDeletedRows);
}

bool NeedsExtendedBlocks(uint32_t data_type, uint32_t encoding, uint32_t compression) {
  return NeedsExtension(data_type) || NeedsExtension(encoding) || NeedsExtension(compression);
}

bool NeedsExtendedBlocks(const FileInfo& info) {
  return NeedsExtendedBlocks(static_cast<uint32_t>(info.type.data_type),
                             static_cast<uint32_t>(info.encoding),
                             static_cast<uint32_t>(info.compression));
}

uint32_t FeaturesOf(Encoding encoding) {
  return static_cast<uint32_t>(encoding) >= encodings::kFirstOwnNumber ? kFeatureOwnEncodings : 0;
}

absl::Status CheckDependencies(const FileInfo& info) {
  const auto damaged = [](absl::string_view what) {
    return DataLoss("the footer is damaged: ", what);
  };
  if (NeedsExtendedBlocks(info) && !info.has_extended_blocks()) {
    return damaged(
        "type, encoding or compression need extended blocks, but the feature bit is not set");
  }
  const uint32_t own = info.incompatible_features & kFeatureOwnEncodings;
  if (own < FeaturesOf(info.encoding) || (own != 0 && !info.has_extended_blocks())) {
    return damaged(
        "the encoding needs feature bit 26, and this bit needs the one of extended blocks");
  }
  if (info.has_movable_blocks() && !(info.has_checksums() && info.has_extended_blocks())) {
    return damaged("movable blocks need the feature bits of checksums and of extended blocks");
  }
  if (info.has_pieces() && !info.has_checksums())
    return damaged("piece tables need the feature bit of checksums");
  return absl::OkStatus();
}

uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ, bool movable) {
  if (!PolicyOf(info.version).features) return 0;
  const bool nested = levels && !info.levels.kudu_array;
  const bool extended = nested || blocks_differ || movable || NeedsExtendedBlocks(info);
  return kFeatureChecksums | (extended ? kFeatureExtendedBlocks : 0) |
         (movable ? kFeatureMovableBlocks : 0) | (nested ? kFeatureNestedBlocks : 0) |
         (levels && !nested ? kFeatureArrayBlocks : 0) | FeaturesOf(info.encoding);
}

}  // namespace cfile::internal

namespace cfile {

std::vector<std::string> FeatureNames(uint32_t incompatible_features) {
  std::vector<std::string> names;
  for (uint32_t left = incompatible_features; left != 0; left &= left - 1) {
    const uint32_t bit = left & -left;
    names.push_back(bit == kFeatureChecksums        ? "checksums"
                    : bit == kFeatureArrayBlocks    ? "array blocks"
                    : bit == kFeaturePieces         ? "pieces"
                    : bit == kFeatureOwnEncodings   ? "own encodings"
                    : bit == kFeatureMovableBlocks  ? "movable blocks"
                    : bit == kFeatureNestedBlocks   ? "nested blocks"
                    : bit == kFeatureExtendedBlocks ? "extended blocks"
                                                    : StrCat("bit ", std::countr_zero(bit)));
  }
  return names;
}

}  // namespace cfile
