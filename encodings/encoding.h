// The wire numbers of encodings: how the values of a block become bytes. Frozen: written into files
// (cfile/FORMAT.md, Messages).
#pragma once

#include <cstdint>
#include <string>

namespace cfile::encodings {

// Numbers below 100 are Apache Kudu's; those of 100 and above are 100 + Apache Parquet's. The
// registry (registry.h) lists those that this build implements.
enum class Encoding : uint32_t {
  kAuto = 0,  // only in options: the writer chooses; a file always holds the choice
  kPlain = 1,
  kPrefix = 2,
  kGroupVarint = 3,
  kRle = 4,
  kDict = 5,
  kBitShuffle = 6,
  kParquetPlain = 100,
  kParquetGroupVarInt = 101,
  kParquetPlainDictionary = 102,
  kParquetRle = 103,
  kParquetBitPacked = 104,
  kParquetDeltaBinaryPacked = 105,
  kParquetDeltaLengthByteArray = 106,
  kParquetDeltaByteArray = 107,
  kParquetDictionary = 108,
  kParquetByteStreamSplit = 109,
  kParquetAlp = 110,
};

// Numbers from here on need extended blocks in a CFile.
inline constexpr uint32_t kFirstExtendedNumber = 100;

// The encoding's name in tools, options and documents ("plain", "rle", ...); if this build does not
// have it, "encoding N", or what it was built without.
std::string EncodingName(Encoding encoding);

}  // namespace cfile::encodings
