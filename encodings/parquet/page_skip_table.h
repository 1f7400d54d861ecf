// Skip tables of pages that another writer has made (cfile/FORMAT.md, Skip tables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// Appends the skip table of a page of `count` values to `out`: the same table that an encoder of
// this library makes. Appends nothing if blocks of `encoding` have no skip table, if the page has
// up to 1,024 values, or if its delta blocks do not divide 1,024. Takes as long as to decode the
// page. kDataLoss: the page is damaged; then `out` may have a part of the table.
absl::Status PutSkipTable(Encoding encoding, PhysicalType type, std::span<const uint8_t> page,
                          uint32_t count, ByteWriter& out);

}  // namespace cfile::encodings
