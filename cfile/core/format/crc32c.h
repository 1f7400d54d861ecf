// CRC32C (Castagnoli), unmasked. All checksums in a CFile are CRC32C.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace cfile::internal {

// Returns the checksum of earlier bytes and `bytes` together. `crc`: the checksum of the earlier
// bytes.
uint32_t ExtendCrc32c(uint32_t crc, std::span<const uint8_t> bytes);

inline uint32_t Crc32c(std::span<const uint8_t> bytes) { return ExtendCrc32c(0, bytes); }

inline constexpr size_t kChecksumBytes = 4;

// Returns kDataLoss with both checksums in the message. `where`: empty, or a text such as " of the
// block's head", which names the bytes that were checked.
absl::Status WrongChecksum(uint32_t expected, uint32_t found, std::string_view where = "");

}  // namespace cfile::internal
