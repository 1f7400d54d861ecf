// The checksum of a Parquet page: CRC32 with the polynomial of zlib, over the page's bytes after its
// header, as they are stored. (The checksums of a CFile are CRC32C.)
#pragma once

#include <cstdint>
#include <span>

namespace cfile::internal {

// Returns the checksum of some bytes followed by `bytes`. `crc`: the checksum of the former; 0 if
// there are none. Thread-safe.
uint32_t ExtendPageChecksum(uint32_t crc, std::span<const uint8_t> bytes);

}  // namespace cfile::internal
