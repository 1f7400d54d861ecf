// Rebuilds a table whose table.cft, chunks or columns are damaged or missing (cfile/FORMAT.md,
// Table). In the library cfile::salvage.
//
// Each part holds a copy of the schema and of its own description, the number of the commit that
// wrote the copy, and the names of the parts that it replaced. From these copies Repair rebuilds
// table.cft.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"

namespace cfile {

struct RepairOptions {
  // Whether to read all values of all parts, and to recover what can be read of damaged columns
  // (cfile/salvage.h). The rows that all columns still have become a new part, which replaces the
  // damaged one. Otherwise parts with missing files, or files that cannot be opened, are left out.
  bool salvage = false;
  // Whether to rebuild table.cft from the parts although it is sound. So parts come back that an
  // earlier Repair left out, if their files are still there.
  bool force = false;
  // Whether to change nothing: the report then says what Repair would do. How many rows would be
  // salvaged is not known.
  bool dry_run = false;
  // Limits for table.cft and the copies, and for the files of the columns.
  ReaderOptions reader = {};
};

// What Repair found out about one part. A plain value.
struct RepairedPart {
  enum class State : uint8_t {
    kKept,         // is in the table
    kSalvaged,     // a new part with its remaining rows has replaced it; in a dry run: would
    kDamaged,      // its files are damaged or missing, and it is left out
    kDropped,      // was dropped or replaced
    kUncommitted,  // a writer has failed to publish it
    // There is no readable copy of its description, so it is left out: its writer has not finished,
    // the copy is damaged, or an earlier version wrote the part.
    kUnknown,
  };
  std::string name;
  State state = State::kKept;
  uint64_t num_rows = 0;  // 0 for kUnknown
  uint64_t lost_rows =
      0;               // the rows of a kSalvaged or kDamaged part that are no longer in the table
  std::string reason;  // why it is damaged, dropped, uncommitted or unknown
};
std::string_view NameOf(RepairedPart::State state);  // "kept", "salvaged", ...

struct RepairReport {
  // What was wrong with table.cft or its chunks; empty: nothing.
  std::string damage;
  // The parts of the table in order; then, unless table.cft was sound, the other parts that have
  // files.
  std::vector<RepairedPart> parts;
  // Whether Repair has committed changes (in a dry run: would).
  bool changed = false;
  // Of the table as it is now. In a dry run: as it would be, without the rows of parts that would be
  // salvaged.
  uint64_t num_parts = 0;
  uint64_t num_rows = 0;
  // The file in the table's directory that holds the bytes of the damaged table.cft; empty: none.
  std::string kept_as;

  // True if no part is damaged, salvaged or unknown.
  bool complete() const;
};

// Repairs a table. If table.cft, its chunks and all files are sound, changes nothing.
//
// If table.cft or a chunk is damaged or missing, Repair rebuilds table.cft from its readable rest
// and from the parts. Parts that were dropped or replaced do not come back, also if their files are
// still there: their folders hold a mark, or another part says that it replaced them. A part whose
// commit was interrupted counts as committed if its files are complete, unless a later commit shows
// that it did not take place; the same is true for an interrupted drop. A change of columns
// (cfile/table_columns.h) that was interrupted counts as committed only if it reached all parts. The
// schema is that of the newest copy whose commit counts. The parts have the order that they had.
//
// The files of parts that are left out stay, without a mark, until CollectGarbage removes them.
//
// Programs may read the table meanwhile; those that have it open keep their parts. Writers that
// append meanwhile may get kAborted, and so may Repair.
//
// Memory: that of all parts' descriptions; with `salvage` that of a TableWriter, of Verify and of
// Salvage.
//
// kNotFound: there is neither table.cft nor a part. kDataLoss: table.cft cannot be rebuilt, because
// no part has a readable copy. kAborted: another program has committed meanwhile; repair again.
// kOutOfRange, kUnimplemented: table.cft or a copy exceeds a limit or needs an unknown feature, and
// may be intact. Other errors: those of the storage, and of TableWriter with `salvage`. If a part
// cannot be salvaged because of an error, the parts before it have been.
absl::StatusOr<RepairReport> Repair(const TableLocation& table, const RepairOptions& options = {});

}  // namespace cfile
