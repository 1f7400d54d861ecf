// Rebuilds a table whose table.cft, chunks or columns are damaged or missing (cfile/FORMAT.md,
// Table). In the library cfile::salvage.
//
// The folder of each part has a copy: a file with the schema and the description of the part.
// A commit is one change of the table. The copy also has the number of the commit that wrote the
// copy, and the names of the parts that this part replaced.
// Repair rebuilds table.cft from the copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

struct RepairOptions {
  // Whether to read all values of all parts, and to recover what can be read of damaged columns
  // (cfile/salvage.h).
  // The rows that can be read in all columns become a new part, which replaces the damaged part.
  // If false, Repair leaves out a part if one of its files is missing or cannot be opened.
  bool salvage = false;
  // Whether to rebuild table.cft from the parts although it is sound.
  // This brings back parts that an earlier Repair left out, if their files still exist.
  bool force = false;
  // Whether to change nothing.
  // The report then says what Repair would do. It does not say how many rows would be salvaged.
  bool dry_run = false;
  // Limits for table.cft and the copies, and for the files of the columns.
  ReaderOptions reader = {};
};

// What Repair found out about one part. A plain value.
struct RepairedPart {
  enum class State : uint8_t {
    kKept,         // is in the table
    kSalvaged,     // a new part with the remaining rows has replaced it (dry run: would replace it)
    kDamaged,      // files are damaged or missing, and the part is left out
    kDropped,      // was dropped or replaced
    kUncommitted,  // its writer has failed to publish the part
    // No copy of its description can be read, so the part is left out. Its writer has not finished,
    // the copy is damaged, or an earlier version of this library wrote the part.
    kUnknown,
  };
  std::string name;
  State state = State::kKept;
  uint64_t num_rows = 0;  // 0 for kUnknown
  uint64_t lost_rows =
      0;               // the rows of a kSalvaged or kDamaged part that are no longer in the table
  std::string reason;  // why it is damaged, dropped, uncommitted or unknown
};
CFILE_EXPORT std::string_view NameOf(RepairedPart::State state);  // "kept", "salvaged", ...

struct CFILE_EXPORT RepairReport {
  // Describes the damage of table.cft or its chunks. Empty: there is no damage.
  std::string damage;
  // First the parts of the table in order.
  // If table.cft was not sound, the other parts that have files follow.
  std::vector<RepairedPart> parts;
  // Whether Repair has committed changes. In a dry run: whether Repair would commit changes.
  bool changed = false;
  // The numbers of parts and rows that the table has after Repair.
  // In a dry run: the numbers that it would have, without the rows of parts that would be salvaged.
  uint64_t num_parts = 0;
  uint64_t num_rows = 0;
  // The file in the table's directory that holds the bytes of the damaged table.cft; empty: none.
  std::string kept_as;

  // True if no part is damaged, salvaged or unknown.
  bool complete() const;
};

// Repairs a table. If table.cft, its chunks and all files are sound, changes nothing.
//
// If table.cft or a chunk is damaged or missing, Repair rebuilds table.cft.
// (A chunk is a file that describes older parts.) Repair uses all parts that the readable rest of
// table.cft and the chunks name. It finds the other parts by their folders.
// The parts keep their order. The schema is that of the newest copy whose commit counts.
//
// Parts that were dropped or replaced do not come back, even if their files still exist.
// The folder of a dropped part has a mark: a file that says that the part was dropped.
// The copy of a part says which parts this part replaced.
//
// An interrupted commit counts if the files of its part are complete.
// But the commit does not count if a later commit shows that it failed.
// The same is true for an interrupted drop. An interrupted change of columns
// (cfile/table_columns.h) counts only if it has reached all parts.
//
// The files of parts that are left out stay, without a mark, until CollectGarbage removes them.
//
// Programs may read the table during Repair. Programs that have the table open keep their parts.
// If a writer appends during Repair, the writer or Repair may return kAborted.
//
// Memory: that of the descriptions of all parts.
// With `salvage`, also that of a TableWriter, of Verify and of Salvage.
//
// kNotFound: there is no table.cft and no part.
// kDataLoss: no part has a readable copy, so table.cft cannot be rebuilt.
// kAborted: another program has committed during Repair. Then call Repair again.
// kOutOfRange, kUnimplemented: table.cft or a copy exceeds a limit or needs an unknown feature.
// The file may be intact. Other errors: those of the storage, and of TableWriter with `salvage`.
// If Repair cannot salvage a part because of an error, it has salvaged the parts before this part.
CFILE_EXPORT absl::StatusOr<RepairReport> Repair(const TableLocation& table,
                                                 const RepairOptions& options = {});

}  // namespace cfile
