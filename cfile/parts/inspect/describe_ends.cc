// DescribeEnds: describes a file with a damaged header or footer.
#include "cfile/inspect.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/parts/inspect/describe_metadata.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::AsString;
using internal::kFileMagicBytes;
using internal::kMessageSizeBytes;
namespace wire = internal::wire;

// The size of Fixed in a file.
constexpr uint64_t kFixedBytes = kFileMagicBytes + kMessageSizeBytes;

absl::StatusOr<std::vector<uint8_t>> ReadBytes(const Source& source, uint64_t offset,
                                               uint64_t size_bytes) {
  std::vector<uint8_t> bytes(size_bytes);
  CFILE_RETURN_IF_ERROR(source.ReadAt(offset, bytes));
  return bytes;
}

// The part of fixed size at the beginning of a file. Another such part is at the end of the file.
struct Fixed {
  FormatVersion version;   // the version that the magic stands for
  uint64_t message_bytes;  // the size of the message of the header or the footer
};

// Returns nullopt if the bytes do not begin with a magic. Precondition: `bytes` has kFixedBytes
// bytes.
std::optional<Fixed> ParseFixed(std::span<const uint8_t> bytes) {
  const auto version = internal::VersionOfMagic(AsString(bytes.first(kFileMagicBytes)));
  if (!version) return std::nullopt;
  return Fixed{*version, encodings::LoadLittleEndian<uint32_t>(bytes.data() + kFileMagicBytes)};
}

// Finds the sizes of the header and the footer of a file.
class EndFinder {
 public:
  EndFinder(const Source& source, const ReaderOptions& options)
      : source_(source), options_(options) {}

  absl::Status Find() {
    if (source_.size() < kFixedBytes) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(FindFooter());
    if (source_.size() - footer_bytes_ < kFixedBytes) return absl::OkStatus();
    return FindHeader();
  }

  // The sizes of the header and the footer in the file: 0 if they were not found, kFixedBytes if
  // their message cannot be read.
  uint64_t header_bytes() const { return header_bytes_; }
  uint64_t footer_bytes() const { return footer_bytes_; }
  bool footer_has_checksum() const { return footer_has_checksum_; }

 private:
  // True if a message of this size fits in `available` bytes and does not exceed the limit.
  bool Fits(uint64_t message_bytes, uint64_t available) const {
    return message_bytes <= available && message_bytes <= options_.max_metadata_size_bytes;
  }

  absl::Status FindFooter() {
    const uint64_t begin = source_.size() - kFixedBytes;
    CFILE_ASSIGN_OR_RETURN(const auto tail, ReadBytes(source_, begin, kFixedBytes));
    const auto fixed = ParseFixed(tail);
    if (!fixed) return absl::OkStatus();
    footer_bytes_ = kFixedBytes;
    has_checksums_ = internal::PolicyOf(fixed->version).features;
    if (!Fits(fixed->message_bytes, begin)) return absl::OkStatus();
    footer_bytes_ += fixed->message_bytes;
    CFILE_ASSIGN_OR_RETURN(const auto message, ReadBytes(source_, source_.size() - footer_bytes_,
                                                         fixed->message_bytes));
    wire::CFileFooter footer;
    if (wire::ParseMessage(AsString(message), options_.max_metadata_size_bytes, footer).ok()) {
      has_checksums_ = (footer.incompatible_features.value_or(0) & kFeatureChecksums) != 0;
    }
    footer_has_checksum_ =
        has_checksums_ && internal::kChecksumBytes <= begin - fixed->message_bytes;
    if (footer_has_checksum_) footer_bytes_ += internal::kChecksumBytes;
    return absl::OkStatus();
  }

  absl::Status FindHeader() {
    const uint64_t available = source_.size() - footer_bytes_ - kFixedBytes;
    CFILE_ASSIGN_OR_RETURN(const auto front, ReadBytes(source_, 0, kFixedBytes));
    const auto fixed = ParseFixed(front);
    if (!fixed) return absl::OkStatus();
    header_bytes_ = kFixedBytes;
    if (!Fits(fixed->message_bytes, available)) return absl::OkStatus();
    header_bytes_ += fixed->message_bytes;
    // Only the footer says whether the file has checksums. If there is no footer, assume that a
    // file of version 2 has checksums.
    const bool checksums =
        footer_bytes_ > 0 ? has_checksums_ : internal::PolicyOf(fixed->version).features;
    if (checksums && fixed->message_bytes + internal::kChecksumBytes <= available)
      header_bytes_ += internal::kChecksumBytes;
    return absl::OkStatus();
  }

  const Source& source_;
  const ReaderOptions& options_;
  bool has_checksums_ = false;
  bool footer_has_checksum_ = false;
  uint64_t header_bytes_ = 0;
  uint64_t footer_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<RegionDetails>> DescribeEnds(const Source& source,
                                                        const ReaderOptions& options,
                                                        size_t max_fields) {
  CFILE_ASSERT(max_fields >= kMaxBlockFields);
  EndFinder ends(source, options);
  CFILE_RETURN_IF_ERROR(ends.Find());
  std::vector<RegionDetails> regions;
  uint64_t offset = 0;
  // Adds the next region of the file.
  const auto add = [&](RegionKind kind, uint64_t size_bytes) -> absl::Status {
    if (size_bytes == 0) return absl::OkStatus();
    RegionDetails& details = regions.emplace_back();
    details.region = {.kind = kind, .offset = offset, .size_bytes = size_bytes};
    offset += size_bytes;
    const bool gap = kind == RegionKind::kGap;
    CFILE_ASSIGN_OR_RETURN(
        details.stored_bytes,
        ReadBytes(source, details.region.offset,
                  gap ? std::min<uint64_t>(size_bytes, RegionDetails::kMaxGapBytes) : size_bytes));
    if (gap) {
      details.stored_fields.push_back(
          {.size = static_cast<size_t>(size_bytes), .name = "bytes that were not understood"});
    } else {
      internal::DescribeEnd(ends.footer_has_checksum(), max_fields, details);
    }
    return absl::OkStatus();
  };
  CFILE_RETURN_IF_ERROR(add(RegionKind::kHeader, ends.header_bytes()));
  CFILE_RETURN_IF_ERROR(
      add(RegionKind::kGap, source.size() - ends.header_bytes() - ends.footer_bytes()));
  CFILE_RETURN_IF_ERROR(add(RegionKind::kFooter, ends.footer_bytes()));
  return regions;
}

}  // namespace cfile
