#include "cfile/core/format/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "encodings/core/status.h"

namespace cfile::internal {

uint32_t ExtendCrc32c(uint32_t crc, std::span<const uint8_t> bytes) {
  // ISA-L takes an int length and a non-const pointer, which it does not write through. The caller
  // has to invert the value before and after.
  constexpr size_t kMaxPiece = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMaxPiece));
    state = crc32_iscsi(const_cast<uint8_t*>(piece.data()), static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  return ~state;
}

absl::Status WrongChecksum(uint32_t expected, uint32_t found, std::string_view where) {
  return DataLoss("checksum mismatch", where, ": expected 0x", absl::Hex(expected, absl::kZeroPad8),
                  ", found 0x", absl::Hex(found, absl::kZeroPad8));
}

}  // namespace cfile::internal
