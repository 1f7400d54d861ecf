// Drops, merges and cleans up the parts of a table (cfile/FORMAT.md, Table). Programs that read the
// table while it changes keep the parts with which they opened it.
//
// To replace parts by a new part, see TableWriter::Replace in cfile/table.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

class TableReader;  // cfile/table.h
class TableWriter;  // cfile/table.h

// All functions here may run at the same time, in any threads and processes, also while writers
// append to the table. `options`: limits for reading table.cft.

// Removes the parts with these names (PartInfo::name) from the table, all of them in one commit.
// The files stay until CollectGarbage removes them. The rows of later parts get smaller ordinals.
// Without names, nothing changes.
//
// kNotFound: there is no table, or it has no part of one of these names; then no part is removed.
// After an error of the storage, the parts may have been removed or not.
CFILE_EXPORT absl::Status DropParts(const TableLocation& table, std::span<const std::string> parts,
                                    const ReaderOptions& options = {});

// What Compact has done. All 0: there were fewer than two parts.
struct CompactReport {
  uint64_t rows = 0;            // of the new part
  uint64_t copied_blocks = 0;   // data blocks of the new part that are copies
  uint64_t recoded_blocks = 0;  // data blocks of the new part that were encoded again
  uint64_t copied_bytes = 0;    // stored bytes of the copied blocks
};

// Merges parts into one new part, in one commit. `parts`: the names of the parts; empty: all parts.
// Does nothing if there are fewer than two parts.
//
// If the table has key columns, the rows of the new part are sorted by key. Otherwise, if a column
// has a value index in each part, the rows are sorted by this column (by the first such column).
// Rows with equal keys keep their order. Otherwise the rows of the parts follow each other.
// `options`: none, one for all columns, or one per column, for the files of the new part.
// Their `value_index` is ignored: the column that gives the order gets a value index, and
// no other column does.
//
// A block is copied without decoding its values if its rows stay together and the new part may
// have such blocks. This needs files with movable blocks (WriterOptions::movable_blocks) and
// without a Bloom filter. The block must need no dictionary, and `options` must not ask for another
// encoding, goal, codec or size. The default options do not ask for these. Small blocks are joined
// with the blocks beside them. All other values are encoded again. If parts overlap in the order
// of the rows, all values of the column that gives the order are encoded again, too.
//
// Memory: that of a TableWriter; for each part that has begun and not ended, one block of
// the column that gives the order and one block of one other column; at most 24 MiB for the
// order of the rows. The replaced parts stay until CollectGarbage removes them.
//
// kNotFound: there is no table, or it has no part of one of these names.
// kAborted: one of the parts was dropped or replaced meanwhile.
// Other errors as TableReader::OpenColumn and TableWriter::Finish.
CFILE_EXPORT absl::StatusOr<CompactReport> Compact(const TableLocation& table,
                                                   std::span<const std::string> parts = {},
                                                   std::span<const WriterOptions> options = {});

// Called with the number of rows that were merged so far or are being merged.
// An error ends the work.
using MergeProgress = std::function<absl::Status(uint64_t rows)>;

// Appends the rows of all parts of `from` to the part that `to` writes, in the order in which
// Compact merges them. So a program can sort more rows than fit into memory. Encodes all values
// with the options of `to`, and copies no blocks. Calls `progress` from time to time, at least
// once for each 16 million rows; null: no calls. Does not call to.Finish. Memory as Compact.
//
// kInvalidArgument: the tables have different schemas. Errors of `progress` are returned. Other
// errors as TableReader::OpenColumn and TableWriter::Append. After an error do not call to.Finish,
// because only some of the rows may have been appended.
CFILE_EXPORT absl::Status AppendMerged(const TableReader& from, TableWriter& to,
                                       const MergeProgress& progress = nullptr);

// Removes the rows whose value in `column` is less than `key`, in one commit.
// `column`: the column by which Compact merges.
// If this is the key index, `key` is a CompoundKey or a prefix of one, and T is std::string_view.
// Nulls that sort first are less than all values. Drops the parts that end before `key`.
// If a part begins before `key` and does not end before it, its remaining rows are written again.
// One new part gets all such rows. Memory, options and errors as Compact. Also kFailedPrecondition:
// the table is not sorted by this column. Preconditions: the column exists; it holds T.
template <ValueType T>
CFILE_EXPORT absl::Status DropRowsBelow(const TableLocation& table, size_t column, const T& key,
                                        std::span<const WriterOptions> options = {});

// How long open readers can open further files of a part after it was dropped, unless a program
// collects garbage earlier.
inline constexpr std::chrono::seconds kGarbageAge = std::chrono::hours(7 * 24);

// A program may make folders for temporary files in a table's directory. Their names must begin
// with this prefix. CollectGarbage removes these folders like parts that table.cft does not name.
// For their age and size, it looks only at the files and folders directly in them.
inline constexpr std::string_view kTemporaryFolderPrefix = "temporary-";

// Something that CollectGarbage removed: the folder of a part, or a file that a killed process or a
// failed change left.
struct RemovedGarbage {
  std::string name;         // the path in the table's directory
  uint64_t size_bytes = 0;  // the sum of the sizes of the files
};

// Removes what table.cft does not name: parts that were dropped, and files that killed writers
// left. Removes only folders and files with names that writers give, and temporary folders.
// A folder is removed if it and all files in it were last changed `older_than` ago or earlier.
// Dropping a part counts as a change. Returns what was removed. Precondition: older_than >= 0.
//
// Before CollectGarbage removes parts, it writes their names into table.cft, so that no writer
// can publish them meanwhile.
//
// A reader that opened the table before a part was dropped can read the part until it is collected.
// Files that the reader has open stay readable even longer; opening another file of the part fails
// with kAborted.
//
// The age also protects the parts that writers are writing.
// table.cft does not name these parts yet. A writer changes its files whenever it completes a
// block of any column. So `older_than` must be longer than any writer waits between two blocks, or
// between its last block and Finish. If `older_than` is shorter, nothing is damaged: Finish finds
// that files of its part are gone, and returns kAborted. A merge in a folder for temporary files
// (kTemporaryFolderPrefix) must not take longer than `older_than`. On network file systems, add
// the difference between the clocks of the machines. Use 0 only if no writer and no reader has the
// table open: parts that are being dropped at the same time could be collected by the next call.
//
// kNotFound: there is no table. If the files of a part cannot be removed, the error is returned,
// and the next call removes the rest.
CFILE_EXPORT absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(
    const TableLocation& table, std::chrono::seconds older_than = kGarbageAge,
    const ReaderOptions& options = {});

}  // namespace cfile
