// Recovers the rows of a damaged part of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "cfile/table.h"

namespace cfile::internal {

struct PartSalvageOptions {
  bool null_lost = false;  // as in RepairOptions
  bool dry_run = false;
  const ReaderOptions& reader;
};

struct SalvagedRows {
  uint64_t rows = 0;
  std::vector<std::pair<std::string, uint64_t>> lost_values;  // as RepairedPart::lost_values
};

// Replaces a damaged part by a new part with the rows that RepairOptions::salvage and null_lost
// promise, in the same order, and makes the compound keys again. Changes nothing if there are no
// such rows, or with dry_run, which returns the same result. Damaged columns are first salvaged
// into files of a temporary folder, which is removed at the end.
//
// Memory: that of a TableWriter, of Verify and of Salvage; 16 bytes for each gap. Errors: those of
// the storage, of Salvage except damage, and of TableWriter::Replace and Finish.
absl::StatusOr<SalvagedRows> SalvagePart(const std::shared_ptr<Storage>& storage,
                                         const TableReader& table, size_t part,
                                         const PartSalvageOptions& options);

}  // namespace cfile::internal
