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

// Replaces a damaged part by a new part. The new part has the rows that can be read in all columns,
// in the same order. If there are no such rows, drops the damaged part.
// Returns the number of rows of the new part. Makes the compound keys again.
// First salvages damaged columns into files of a temporary folder. Removes this folder at the end.
//
// Memory: that of a TableWriter, of Verify and of Salvage; 16 bytes for each gap. Errors: those of
// the storage, of Salvage except damage, and of TableWriter::Replace and Finish.
absl::StatusOr<uint64_t> SalvagePart(const std::shared_ptr<Storage>& storage,
                                     const TableReader& table, size_t part,
                                     const ReaderOptions& options);

}  // namespace cfile::internal
