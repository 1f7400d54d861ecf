// Reads and writes the metadata of Parquet files.
//
// Metadata in a file is untrusted. A reader checks that the bytes are a message of Thrift's compact
// protocol in which each known field has its type and no required field is absent. The fields may
// have any value: the caller checks sizes, offsets, counts and enums.
//
// All functions may run in several threads at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/parts/parquet/metadata/messages.h"

namespace cfile::internal::parquet {

// The bytes "PAR1" at the begin and at the end of a file.
inline constexpr char kMagic[] = "PAR1";
inline constexpr size_t kMagicBytes = 4;

struct ParquetMetadata {
  FileMetaData file;                 // its texts point into `bytes`
  std::unique_ptr<uint8_t[]> bytes;  // the message as it is in the file
  size_t size_bytes = 0;             // of the message
  uint64_t offset = 0;               // of the message in the file. All pages lie before it
};

// Reads the metadata at the end of a Parquet file. The errors begin with the name of `source`.
// kInvalidArgument: this is no Parquet file. kUnimplemented: the file or one of its columns is
// encrypted. kDataLoss: the metadata is damaged; the error gives the offset in the file.
// kOutOfRange: the metadata is larger than `max_metadata_size_bytes`, the option that the error
// names. Also returns errors of `source`. Memory: at most 33 times the size of the metadata, and 64
// KiB.
absl::StatusOr<ParquetMetadata> ReadParquetMetadata(const Source& source,
                                                    uint64_t max_metadata_size_bytes);

// Returns the end of a Parquet file: the message, its size and the magic bytes.
// Precondition: the message has less than 2^31 bytes.
std::string WriteFileMetadata(const FileMetaData& metadata);

// Read one message that begins at the first of `bytes`, and set `*consumed` to its size in bytes.
// The bytes after the message are ignored. Texts of the result point into `bytes`.
// kDataLoss: the message is damaged or incomplete. The error gives the offset in `bytes`; it does
// not name the file. `consumed` may be null. The result takes at most 32 times as much memory as
// `bytes`, and 64 KiB.
absl::StatusOr<PageHeader> ReadPageHeader(std::span<const uint8_t> bytes, size_t* consumed);
absl::StatusOr<OffsetIndex> ReadOffsetIndex(std::span<const uint8_t> bytes, size_t* consumed);
absl::StatusOr<ColumnIndex> ReadColumnIndex(std::span<const uint8_t> bytes, size_t* consumed);
absl::StatusOr<BloomFilterHeader> ReadBloomFilterHeader(std::span<const uint8_t> bytes,
                                                        size_t* consumed);

// Return the bytes of a message.
std::string WritePageHeader(const PageHeader& header);
std::string WriteOffsetIndex(const OffsetIndex& index);
std::string WriteColumnIndex(const ColumnIndex& index);
std::string WriteBloomFilterHeader(const BloomFilterHeader& header);

}  // namespace cfile::internal::parquet
