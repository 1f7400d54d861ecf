// Recovers the rows of a damaged part of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "cfile/table.h"

namespace cfile::internal {

// Replaces the part by a new part with the rows that can be read in all columns, in their order, or
// drops it if there are none. Returns how many rows the new part has. Compound keys are made anew.
// Damaged columns are first salvaged into files of a temporary folder, which is then removed.
//
// Memory: that of a TableWriter, of Verify and of Salvage; 16 bytes for each gap. Errors: those of
// the storage, of Salvage except damage, and of TableWriter::Replace and Finish.
absl::StatusOr<uint64_t> SalvagePart(const std::shared_ptr<Storage>& storage,
                                     const TableReader& table, size_t part,
                                     const ReaderOptions& options);

}  // namespace cfile::internal
