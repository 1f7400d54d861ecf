// Reads the dictionary pages of Parquet files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/export.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// For readers of Parquet files. Decodes a dictionary page of `count` values for columns of `type`.
// All values are copied from `page`. kDataLoss: the page is damaged, or bytes follow the last
// value. A PLAIN data page is different: there, bytes may follow the last value. kOutOfRange:
// `count` is more than `max_values`. Precondition: type_length > 0 for kFixedBytes.
CFILE_EXPORT absl::StatusOr<std::shared_ptr<const Dictionary>> ReadParquetDictionaryPage(
    PhysicalType type, uint32_t type_length, uint64_t count, std::span<const uint8_t> page,
    size_t max_values = kMaxDictionaryValues);

}  // namespace cfile::encodings
