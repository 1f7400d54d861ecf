// Parts of a table that many processes write and one commit publishes. A part is a set of rows in
// its own files (cfile/table.h). All rows become visible at once, and exactly once.
//
// In each process:
//
//   auto writer = cfile::TableWriter::Prepare("flights", schema);
//   writer->Append<int32_t>(0, years);
//   ...
//   std::string part = *writer->FinishPrepared();  // send these bytes to the committing process
//
// In the committing process:
//
//   cfile::CommitParts("flights", parts, {.id = "load of 2013-01-01"});
//
// A process that fails leaves files that no reader sees. CollectGarbage (cfile/table_maintenance.h)
// removes them when they are old enough. Its `older_than` must be longer than the time from
// FinishPrepared to the end of CommitParts. Errors of all calls: cfile/CONCEPTS.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

inline constexpr size_t kMaxCommitIdBytes = 128;

struct CommitPartsOptions {
  // Names the work that this commit publishes. If the table remembers the id, the work was
  // published before, and CommitParts changes nothing. A table remembers the ids of its newest
  // 1,000 commits that had one. Empty: the commit has no id, and CommitParts recognizes only parts
  // that it has published before, as long as CollectGarbage has not removed them.
  std::string id = {};
  // The names (PartInfo::name) of parts that the new parts replace, as in TableWriter::Replace.
  std::vector<std::string> replaced = {};
  // The schema of the table, if there may be no table and no part. Null: from the first part.
  const Schema* schema = nullptr;
  // The oldest reader of a table that this call creates from `schema`.
  OldestReader oldest_reader = OldestReader::kDefault;
  ReaderOptions reader = {};  // limits for reading table.cft and the descriptions
};

// Publishes parts in one commit. `parts`: results of TableWriter::FinishPrepared for this table.
// The new parts, in the order of `parts`, become the last parts of the table, or get the place of
// the first replaced part. If there is no table, the commit creates it. Other writers may commit at
// the same time: all parts are in the table afterwards.
//
// Returns true if this call has published the parts. Returns false if an earlier commit has: one
// with the same id, or one of the same parts. At most one of several calls with the same parts
// returns true.
//
// kInvalidArgument: the id is too long; `parts` have different schemas; a part is named twice; or
// only some of the parts are in the table already. kDataLoss: the bytes of a description are
// damaged. kNotFound: there is no table, no part and no schema. kAlreadyExists: there is no table,
// but the place holds files that are not parts of a table. kFailedPrecondition: the table has lost
// its table.cft (TableWriter::OpenOrCreate), or it has a merge rule, and rows of a part to be
// replaced may hide older rows (TableWriter::Replace). kAborted: the schema of the table is not
// that of the parts, a part to be replaced is gone, or files of the parts are gone. Other errors as
// TableWriter::Finish. After an error of the storage, it may be unknown whether the parts are in
// the table. Call CommitParts again with the same arguments.
CFILE_EXPORT absl::StatusOr<bool> CommitParts(const TableLocation& table,
                                              std::span<const std::string> parts,
                                              const CommitPartsOptions& options = {});

}  // namespace cfile
