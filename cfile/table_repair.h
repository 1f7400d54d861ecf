// Rebuilds a table whose table.cft, chunks or columns are damaged or missing (cfile/FORMAT.md,
// Table). In the library cfile::salvage.
//
// The folder of each part has a copy: a file with the schema, the description of the part, the
// number of the commit that wrote the copy, and the names of the parts that this part replaced.
// Repair rebuilds table.cft from the copies. Errors that all calls have: cfile/CONCEPTS.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

struct RepairOptions {
  // Whether to recover what can be read of damaged columns (cfile/salvage.h).
  // The rows that can be read in all columns become a new part, which replaces the damaged part.
  // A part of which no row can be read stays as it is.
  bool salvage = false;
  // With `salvage`: whether lost values become null, so that their rows stay.
  // A row stays if its lost values are in nullable columns, and at least one of its values can be
  // read. Not for columns by which rows are sorted, nor for columns inside of groups of records.
  bool null_lost = false;
  // Whether to leave damaged parts out of the table; with `salvage`, only the parts of which no row
  // can be read. If false, damaged parts stay, and reading their damaged columns gives errors.
  bool drop_damaged = false;
  // Whether to rebuild table.cft from the parts although it is sound: brings back the parts that an
  // earlier Repair left out, until CollectGarbage removes them.
  bool force = false;
  // Whether to change nothing. The report then says the same, except kept_as, as without dry_run.
  bool dry_run = false;
  // Limits for table.cft and the copies, and for the files of the columns.
  ReaderOptions reader = {};
};

// What Repair found out about one part. A plain value.
struct RepairedPart {
  enum class State : uint8_t {
    kKept,      // is in the table
    kSalvaged,  // a new part with the remaining rows has replaced it (dry run: would replace it)
    kDamaged,   // is in the table, but files are damaged or missing
    // Not in the table, because this Repair or an earlier one has left it out. Its files are still
    // there: with `force`, Repair brings it back.
    kLeftOut,
    kDropped,      // was dropped or replaced
    kUncommitted,  // its writer has failed to publish the part
    // No copy of its description can be used, so the part is left out. Its writer has not finished,
    // the copy is damaged, or an earlier version of this library wrote the part.
    kUnknown,
  };
  std::string name;
  State state = State::kKept;
  uint64_t num_rows = 0;   // 0 if no copy can be read
  uint64_t lost_rows = 0;  // its rows that the table lacks, unless it was dropped or not committed
  std::string reason;      // why it is not kKept
  // With null_lost: the columns of a kSalvaged part in which values have become null, and how many.
  std::vector<std::pair<std::string, uint64_t>> lost_values = {};
};
CFILE_EXPORT std::string_view NameOf(RepairedPart::State state);  // "kept", "salvaged", ...

struct CFILE_EXPORT RepairReport {
  // Describes the damage of table.cft, its chunks or the copies. Empty: there is no damage.
  std::string damage;
  // The parts of the table in order, then the parts that an earlier Repair has left out. If
  // table.cft was not sound, or with `force`, all other parts that have files follow.
  std::vector<RepairedPart> parts;
  // Whether Repair has committed changes. In a dry run: whether Repair would commit changes.
  bool changed = false;
  // The numbers of parts and rows that the table has after Repair, with those of damaged parts.
  uint64_t num_parts = 0;
  uint64_t num_rows = 0;
  // The file in the table's directory that holds the bytes of the damaged table.cft; empty: none.
  std::string kept_as;

  // True if no part is damaged, salvaged, left out or unknown.
  bool complete() const;
};

// Repairs a table. Reads all values of all parts, and checks them as TableReader::VerifyColumn
// does. If table.cft, its chunks, the copies and all files are sound, changes nothing.
//
// If table.cft or a chunk is damaged or missing, Repair rebuilds table.cft. (A chunk is a file
// that describes older parts.) Repair uses all parts that the readable rest of table.cft and the
// chunks name, and finds the other parts by their folders. The parts keep their order. The schema
// is that of the newest copy whose commit counts.
//
// Parts that were dropped or replaced do not come back, even if their files still exist: the
// folder of a dropped part has a file that says so, and a copy says which parts its part replaced.
//
// An interrupted commit counts if the files of its part are complete. Neither it nor an interrupted
// drop counts if a later commit shows that it failed. An interrupted change of columns
// (cfile/table_columns.h) counts only if it has reached all parts.
//
// If table.cft is sound, but a part has no copy that can be read, Repair writes the copy again.
//
// A part leaves the table only if the caller asks for this (RepairOptions), or if no description of
// the part can be read. The files of such parts stay unchanged until CollectGarbage removes them.
// Until then, each later report names these parts.
//
// Programs may read the table during Repair. Programs that have the table open keep their parts.
// If a writer appends during Repair, the writer or Repair may return kAborted.
//
// Memory: that of the descriptions of all parts, and that of Verify.
// With `salvage`, also that of a TableWriter and of Salvage. A damaged part is then salvaged twice:
// first without writing anything, to find out how many rows it has.
//
// kFailedPrecondition: the table has a merge rule, and rows would be lost that may have replaced or
// deleted older rows, which would count again. The error names the part. A dry run reports all;
// ReaderOptions::stored_rows allows it. kNotFound: there is no table.cft and no part. kDataLoss: no
// part has a readable copy, so table.cft cannot be rebuilt. kAborted: another program has committed
// during Repair: call Repair again. If the storage returns an error for a file of a column, Repair
// returns this error with `salvage` or `drop_damaged`. Without these options, Repair reports the
// part as kDamaged. If Repair cannot salvage a part because of an error, it has salvaged the parts
// before this part.
CFILE_EXPORT absl::StatusOr<RepairReport> Repair(const TableLocation& table,
                                                 const RepairOptions& options = {});

}  // namespace cfile
