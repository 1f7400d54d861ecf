// Drops, merges and cleans up the parts of a table (cfile/FORMAT.md, Table). Programs that read
// the table while it changes keep the parts with which they opened it. Errors: cfile/CONCEPTS.md.
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
// Without names, nothing changes. If all parts are dropped from a table that a value index keeps in
// order, a part without rows takes their place. Its value index keeps the order for the rows that
// are appended later. kFailedPrecondition: the table has a merge rule, and a removed part may have
// replaced rows of an older part that stays, so that these rows would count again
// (ReaderOptions::stored_rows allows it).
CFILE_EXPORT absl::Status DropParts(const TableLocation& table, std::span<const std::string> parts,
                                    const ReaderOptions& options = {});

// Sets the oldest program that must be able to read the table (WriterOptions::oldest_reader) to a
// newer one, in one commit, and returns the previous one. From then on, older programs may be
// unable to read the table. The files that the table has stay as they are. Does nothing if the
// table has this oldest reader already. To go back, write the rows into a new table.
// kFailedPrecondition: `reader` is older than the oldest reader of the table. kInvalidArgument:
// `reader` is kDefault, or newer than this version.
CFILE_EXPORT absl::StatusOr<OldestReader> RaiseOldestReader(const TableLocation& table,
                                                            OldestReader reader,
                                                            const ReaderOptions& options = {});

// Raises the bound for the time column of the table's merge rule, in one commit: from then on, keys
// whose newest row has a time below `bound` have no row. Compact removes such rows from the files.
// `bound`: as stored, for example days or microseconds since 1970. kFailedPrecondition: the table
// has no rule with a time column. kInvalidArgument: the table has a greater bound.
CFILE_EXPORT absl::Status RaiseTimeBound(const TableLocation& table, int64_t bound,
                                         const ReaderOptions& options = {});

// Which rows Compact keeps. (With a merge rule it always keeps the newest row of each key.)
enum class KeptRows : uint8_t {
  kAll,
  // Of rows with equal keys, only the newest one: the last row of the last part. This is the choice
  // of a program for which a row replaces earlier rows with its key (TableLookup finds the newest
  // row). Older rows in parts that are not merged stay. kFailedPrecondition: the table has no sort
  // column. kUnimplemented: there are several key columns, and one holds floats (-0 and 0 are equal
  // keys, but have different places in the order).
  kNewestOfKey,
};

// What Compact has done. All 0: nothing, or no row stays.
struct CompactReport {
  uint64_t rows = 0;            // of the new part
  uint64_t copied_blocks = 0;   // data blocks of the new part that are copies
  uint64_t recoded_blocks = 0;  // data blocks of the new part that were encoded again
  uint64_t copied_bytes = 0;    // stored bytes of the copied blocks
};

// Merges parts into one new part, in one commit. `parts`: the names of the parts; empty: all
// parts. No other part may be between them, because the new part takes the place of the first one.
// Does nothing if there are fewer than two parts. (A single part is written again if only the
// newest rows are kept, or if it is packed and has more than max_packed_part_bytes of `options`.)
//
// One column, the sort column, gives the order of the rows in the new part:
// - If the table has key columns, the sort column is the key index.
// - Otherwise it is the first column that has a value index in each part.
// - If there is no such column, the rows of the parts follow each other, without a sort column.
//
// Rows with equal keys keep their order (but -0 comes before 0). If the table has a merge rule,
// only the newest of them is kept, also by AppendMerged and DropRowsBelow. Rows that are gone by
// the rule are left out if no older part that stays overlaps with the merged parts, because
// otherwise they hide its rows.
//
// `options`: as for TableWriter::Create, for the files of the new part. If they do not say what the
// key index gets, it gets a Bloom filter if the key index of a merged part has one, and if the new
// filter is not larger than ReaderOptions::max_bloom_filter_bytes by default.
// WriterOptions::value_index is ignored: only the sort column gets a value index.
//
// A block is copied without decoding its values if all of this is true:
// - The rows of the block stay together.
// - The file has movable blocks (WriterOptions::movable_blocks) and no Bloom filter.
// - The block needs no dictionary.
// - `options` do not ask for another encoding, goal, codec or size. The default options do not.
// - The block is not small. Small blocks are joined with the blocks beside them.
//
// All other values are encoded again. If parts overlap in the order of the rows, all values of
// the sort column are encoded again, too.
//
// Blocks may be as large as ReaderOptions::blocks_up_to_file_size says, or as the largest
// max_block_size_bytes of `options`, which is needed to write blocks of more than 16 MiB again.
//
// Memory: that of a TableWriter, and at most 24 MiB for the order of the rows. In addition, each
// part that is being merged at the moment needs two blocks: one of the sort column and one of one
// other column. The replaced parts stay until CollectGarbage removes them. The file of a column
// keeps the metadata of the first merged part, unless its options have metadata.
//
// kInvalidArgument: another part is between these parts. kAborted: one of the parts was dropped or
// replaced during this call.
CFILE_EXPORT absl::StatusOr<CompactReport> Compact(const TableLocation& table,
                                                   std::span<const std::string> parts = {},
                                                   std::span<const WriterOptions> options = {},
                                                   KeptRows kept = KeptRows::kAll);

// Says which rows with one key stay. `ordinals`: of the rows with this key in the parts that
// Compact merges, oldest first: part by part, and in a part from row to row. They are ordinals of
// `table`, which has all parts that the table had when Compact began; a reader that the program has
// opened may number its rows differently. To know the key, read the sort column or, because a
// cursor of the key index cannot go to a row, the key columns. Cursors and copies of `table` may
// outlive the call. `kept`: has one `true` for each row. Set it to false for the rows that go; do
// not change its size. An error ends the work of Compact.
using ChooseRows = std::function<absl::Status(
    const TableReader& table, std::span<const uint64_t> ordinals, std::vector<bool>& kept)>;

// Like Compact above, but the program chooses which rows of each key stay:
//
//   // Keeps the newest three versions of each record.
//   Compact(table, {}, {}, [](const TableReader&, std::span<const uint64_t> rows, auto& kept) {
//     for (size_t i = 0; i + 3 < rows.size(); ++i) kept[i] = false;
//     return absl::OkStatus();
//   });
//
// This is the choice of the program for this call. The table does not store it, so it is no rule of
// the table: other calls and readers do not apply it.
//
// Calls `choose` once for each key, in the order of the keys and in the thread of the caller, also
// for a key with one row. Rows that stay keep their order; but -0 and 0 are one key, and rows with
// -0 come first in the new part, so that from then on they count as older. Writes a single part
// again, too. If no row stays, the new part has no rows. `choose` does not see rows in parts that
// are not merged. If the newest row of a key goes, a lookup finds an older row in such a part.
//
// Copies no blocks. A cursor of `table` that goes from part to part reads blocks again, so a
// program that reads many rows should have one cursor for each part. Memory: also up to 70 bytes
// for each row of the key that has the most rows.
//
// Errors: also those of `choose`; the table is then unchanged. kInvalidArgument: also if `choose`
// changes the size of `kept`. kFailedPrecondition: the table has a merge rule, which says which
// rows stay, or no sort column. kUnimplemented: as KeptRows::kNewestOfKey. Precondition: choose !=
// nullptr.
CFILE_EXPORT absl::StatusOr<CompactReport> Compact(const TableLocation& table,
                                                   std::span<const std::string> parts,
                                                   std::span<const WriterOptions> options,
                                                   const ChooseRows& choose);

// What a part was made of.
struct PartOrigin {
  uint64_t commit = 0;                // as PartInfo::commit
  std::vector<std::string> replaced;  // the names of the parts whose place it took; may be empty
};

// Reads what the folder of a part says about it. The part may be one that the table no longer has.
// kNotFound: CollectGarbage has removed the folder, an earlier version of this library wrote the
// part, or `part` is no name of a part. kDataLoss: a file in the folder is damaged.
CFILE_EXPORT absl::StatusOr<PartOrigin> ReadPartOrigin(const TableLocation& table,
                                                       const std::string& part,
                                                       const ReaderOptions& options = {});

// AppendMerged calls this function with the number of rows that it has merged or is merging. An
// error of the function ends the work.
using MergeProgress = std::function<absl::Status(uint64_t rows)>;

// Appends the rows of all parts of `from` to the part that `to` writes, in the order in which
// Compact merges them: a program can sort more rows than fit into memory. Encodes all values with
// the options of `to`, and copies no blocks. Calls `progress`, which may be null, at least once for
// each 16 million rows. Does not call to.Finish. Memory as Compact.
//
// kInvalidArgument: the tables have different schemas. kFailedPrecondition: `from` applies a merge
// rule and has a bound of times, which the other table may lack. After an error do not call
// to.Finish, because only some of the rows may have been appended.
CFILE_EXPORT absl::Status AppendMerged(const TableReader& from, TableWriter& to,
                                       const MergeProgress& progress = nullptr);

// Removes the rows whose value in `column` is less than `key`, in one commit. `column`: the sort
// column that Compact would use. If `column` is the key index, `key` is a CompoundKey or a prefix
// of one, and T is std::string_view. Nulls that sort first are less than all values.
//
// A part is dropped if all its rows are less than `key`. One new part replaces the parts of which
// only some rows are less, and gets their remaining rows. It also gets the rows of parts between
// them that may have the same keys, so that these rows keep their order. Memory, options and errors
// as Compact. Also kFailedPrecondition: the table is not sorted by this column. Precondition: the
// column holds T.
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::Status DropRowsBelow(const TableLocation& table, size_t column, const T& key,
                                        std::span<const WriterOptions> options = {});

// How long open readers can open further files of a part after it was dropped, unless a program
// collects garbage earlier.
inline constexpr std::chrono::seconds kGarbageAge = std::chrono::hours(7 * 24);

// Returns a new name for a folder of temporary files that a program makes in a table's directory:
// "temporary-" and 128 random bits. CollectGarbage removes such a folder like a part that
// table.cft does not name. For its age and size, only the files and folders directly in it count.
CFILE_EXPORT absl::StatusOr<std::string> NewTemporaryFolderName();

// True if a file or a folder in a table's directory has a name that this library makes
// (cfile/FORMAT.md, Table). `path`: relative to the directory, as Storage::List returns it.
CFILE_EXPORT bool IsTablePath(std::string_view path);

// Something that CollectGarbage removed: the folder of a part, or a file that a killed process or a
// failed change left.
struct RemovedGarbage {
  std::string name;         // the path in the table's directory
  uint64_t size_bytes = 0;  // the sum of the sizes of the files
};

// Removes what table.cft does not name: parts that were dropped, and files that killed writers
// left. Removes only folders and files with names that writers give, and temporary folders. The
// folder of a part stays if it has a file with another name (IsTablePath). A folder is removed if
// neither the folder nor a file in it has changed for the time `older_than`. Dropping a part
// counts as a change. Returns what was removed. Precondition: older_than >= 0.
//
// Before CollectGarbage removes parts, it writes their names into table.cft. After that, no writer
// can publish a part with such a name.
//
// A reader that opened the table before a part was dropped can read the part until it is collected.
// Files that the reader has open stay readable even longer; opening another file of the part fails
// with kAborted.
//
// The age also protects the parts that writers are writing. table.cft does not name such parts
// yet. A writer changes its files whenever it completes a block of any column. So `older_than`
// must be longer than the longest time between two blocks of a writer, and longer than the time
// between the last block and the call of Finish, or of CommitParts for a prepared part
// (cfile/prepared_parts.h). If it is too short, CollectGarbage may remove files of the writer. The
// table is not damaged: Finish or CommitParts returns kAborted. A merge in a folder for temporary
// files (NewTemporaryFolderName) must end within `older_than`. On network file systems, add the
// difference between the clocks of the machines.
//
// Use 0 only if no writer has the table open and all readers are up to date (TableReader::Refresh).
// With 0, a part that is being dropped at the same time may be removed by the next call.
//
// If there is no table, removes what killed writers of a new table left. Removes nothing if a part
// is complete, because Repair (cfile/table_repair.h) may bring it back.
//
// `dry_run`: removes nothing, and returns what would be removed. kNotFound: there is no table, and
// no part that a writer began. If the files of a part cannot be removed, returns that error; the
// next call removes the rest.
CFILE_EXPORT absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(
    const TableLocation& table, std::chrono::seconds older_than = kGarbageAge,
    const ReaderOptions& options = {}, bool dry_run = false);

}  // namespace cfile
