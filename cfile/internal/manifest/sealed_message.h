// The frame of table.cft and of chunk files: a magic, the length of a message, the message, and a
// CRC32C of all bytes before it (cfile/FORMAT.md, Table).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cfile::internal {

inline constexpr size_t kMagicBytes = 8;

// Returns the bytes of a file. Precondition: the magic has kMagicBytes bytes.
std::string SealMessage(std::string_view magic, std::string_view message);

// What a file holds. The views point into the file's bytes.
struct SealedMessage {
  std::string_view magic;
  std::string_view message;
  uint32_t crc32c = 0;
};
// Checks the bytes of a file, whose magic must be one of `magics`. kDataLoss; the message begins
// with `path` and says that the file is not `what`, or what is wrong with it.
absl::StatusOr<SealedMessage> UnsealMessage(std::string_view bytes,
                                            std::span<const std::string_view> magics,
                                            std::string_view what, const std::string& path);

// The message in the result of SealMessage.
std::string_view MessageIn(std::string_view sealed);
// The CRC32C in the result of SealMessage.
uint32_t Crc32cIn(std::string_view sealed);

}  // namespace cfile::internal
