// The frame of table.cft and of chunk files (cfile/FORMAT.md, Table): a magic, the length of a
// message, the message, and the CRC32C of all bytes before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cfile::internal {

inline constexpr size_t kMagicBytes = 8;

// Returns the bytes of a file with this magic and this message.
// Precondition: the magic has kMagicBytes bytes.
std::string SealMessage(std::string_view magic, std::string_view message);

// The fields of such a file. The views point into the bytes of the file.
struct SealedMessage {
  std::string_view magic;
  std::string_view message;
  uint32_t crc32c = 0;
};
// Checks the bytes of a file, whose magic must be one of `magics`. `what`: the kind of the file,
// for messages, such as "a table". kDataLoss, with `path` at its begin: a check has failed.
absl::StatusOr<SealedMessage> UnsealMessage(std::string_view bytes,
                                            std::span<const std::string_view> magics,
                                            std::string_view what, const std::string& path);

// Returns the message in `sealed`, a result of SealMessage.
std::string_view MessageIn(std::string_view sealed);
// Returns the CRC32C in `sealed`, a result of SealMessage.
uint32_t Crc32cIn(std::string_view sealed);

}  // namespace cfile::internal
