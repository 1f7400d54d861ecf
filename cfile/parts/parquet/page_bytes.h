// The bytes of a page as they are stored in a Parquet file: compressed, with a checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

// Converts a number of parquet::CompressionCodec. Both forms of LZ4 give kLz4.
// kUnimplemented: the codec is unknown or was not built in; the error names it.
absl::StatusOr<Compression> CompressionFromParquet(int32_t codec);
// The reverse; LZ4_RAW for kLz4. nullopt: Parquet has no such codec.
std::optional<int32_t> CompressionToParquet(Compression compression);

// True if the bytes that this codec makes are those of a compressed section of a CFile's block.
// False for LZO and for LZ4 of Hadoop, which put frames around the compressed bytes.
bool HasSameCompressedBytes(int32_t codec);

// OK if pages may have this codec, or if it is kDefault. kInvalidArgument: Parquet has no such
// codec. kUnimplemented: it was not built in.
absl::Status CheckExportCompression(Compression compression);

// Returns the codec for pages that need a codec if the column's codec is none of Parquet's; kNone
// if no such codec was built in.
Compression UsualCodec();

// Returns the codec of the pages of a file. `codec`: the file's codec.
Compression CodecOfPages(Compression codec);

// Decompresses `in` into `out`. Precondition: CompressionFromParquet returned OK.
// kDataLoss: `in` is damaged or does not decompress to exactly out.size() bytes.
absl::Status UncompressPage(int32_t codec, std::span<const uint8_t> in, std::span<uint8_t> out);

// The checksum in page headers: CRC32 with the polynomial of zlib.
// `before`: the checksum of the bytes before `bytes`, if the page has such bytes.
uint32_t PageChecksum(std::span<const uint8_t> bytes, uint32_t before = 0);

// Appends the values of a dictionary in the PLAIN encoding. Returns their number. Precondition: the
// dictionary is a ValueDictionary of `type` (encodings::HasCodes).
uint32_t PutDictionary(const encodings::Dictionary& dictionary, encodings::PhysicalType type,
                       encodings::ByteWriter& out);

// True if `plain` has the values of a dictionary of strings as PutDictionary appends them.
bool HasValues(const encodings::Dictionary& dictionary, std::span<const uint8_t> plain);

}  // namespace cfile::internal
