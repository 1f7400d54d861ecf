#include "cfile/parts/table/manifest/sealed_message.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/crc32c.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::AsBytes;
using encodings::AsString;
using encodings::DataLoss;

constexpr size_t kFrontBytes = kMagicBytes + sizeof(uint32_t);

std::string SealMessage(std::string_view magic, std::string_view message) {
  CFILE_ASSERT(magic.size() == kMagicBytes);
  encodings::ByteWriter bytes;
  bytes.PutBytes(magic);
  bytes.PutFixed(static_cast<uint32_t>(message.size()));
  bytes.PutBytes(message);
  bytes.PutFixed(Crc32c(bytes.span()));
  return std::string(bytes.view());
}

absl::StatusOr<SealedMessage> UnsealMessage(std::string_view bytes,
                                            std::span<const std::string_view> magics,
                                            std::string_view what, const std::string& path) {
  encodings::ByteReader reader(AsBytes(bytes));
  std::span<const uint8_t> magic, message;
  uint32_t length, crc;
  if (!reader.ReadBytes(kMagicBytes, magic) ||
      std::find(magics.begin(), magics.end(), AsString(magic)) == magics.end()) {
    std::string expected;
    for (const std::string_view one : magics) {
      expected = encodings::StrCat(expected, expected.empty() ? "" : " or ", one);
    }
    return DataLoss(path, ": this is not ", what, ": expected the magic ", expected,
                    ", found other bytes");
  }
  if (!reader.ReadFixed(length) || !reader.ReadBytes(length, message) || !reader.ReadFixed(crc) ||
      !reader.empty()) {
    return DataLoss(path, ": the file has ", bytes.size(),
                    " bytes, but its length field says another size");
  }
  const size_t crc_offset = bytes.size() - kChecksumBytes;
  const uint32_t expected_crc = Crc32c(AsBytes(bytes.substr(0, crc_offset)));
  if (crc != expected_crc) {
    return DataLoss(path, ": at offset ", crc_offset, ": checksum mismatch: expected 0x",
                    absl::Hex(expected_crc, absl::kZeroPad8), ", found 0x",
                    absl::Hex(crc, absl::kZeroPad8));
  }
  return SealedMessage{.magic = AsString(magic), .message = AsString(message), .crc32c = crc};
}

std::string_view MessageIn(std::string_view sealed) {
  CFILE_ASSERT(sealed.size() >= kFrontBytes + kChecksumBytes);
  return sealed.substr(kFrontBytes, sealed.size() - kFrontBytes - kChecksumBytes);
}

uint32_t Crc32cIn(std::string_view sealed) {
  encodings::ByteReader reader(AsBytes(sealed.substr(sealed.size() - kChecksumBytes)));
  uint32_t crc = 0;
  const bool read = reader.ReadFixed(crc);
  CFILE_ASSERT(read);
  return crc;
}

}  // namespace cfile::internal
