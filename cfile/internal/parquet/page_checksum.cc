#include "cfile/internal/parquet/page_checksum.h"

#include <isa-l/crc.h>

namespace cfile::internal {

uint32_t ExtendPageChecksum(uint32_t crc, std::span<const uint8_t> bytes) {
  return bytes.empty() ? crc : crc32_gzip_refl(crc, bytes.data(), bytes.size());
}

}  // namespace cfile::internal
