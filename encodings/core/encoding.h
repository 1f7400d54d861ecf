// The wire numbers of encodings. An encoding defines how the values of a block become bytes. The
// numbers are written into files and never change (cfile/FORMAT.md, Messages).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encodings/core/export.h"

namespace cfile::encodings {

// Numbers below 100 are Apache Kudu's, numbers from 100 to 199 are 100 + Apache Parquet's number,
// and numbers from 1000 are this project's own. The registry (registry.h) lists the encodings that
// this build implements; encodings/ADDING.md says how to add one.
enum class Encoding : uint32_t {
  kAuto = 0,  // only in options: the writer chooses an encoding and stores its number
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
  kFor = 1000,
  kFsst = 1001,
  kCompact = 1002,
  kAlpRd = 1003,
};

// Encodings with this number or a higher one need extended blocks in a CFile (cfile/FORMAT.md,
// Extended blocks).
inline constexpr uint32_t kFirstExtendedNumber = 100;

// The first number of this project's own encodings.
inline constexpr uint32_t kFirstOwnNumber = 1000;

// Returns the encoding's name, as used in tools, options and documents ("plain", "rle", ...). If
// this build does not implement the encoding, returns "encoding N", or a name that says what the
// build lacks, such as "dict (built without LZ4)".
CFILE_EXPORT std::string EncodingName(Encoding encoding);

// Returns what the encoding makes use of, in words for users: "runs of equal values". Returns an
// empty string if this build does not implement the encoding.
CFILE_EXPORT std::string_view EncodingSuits(Encoding encoding);

}  // namespace cfile::encodings
