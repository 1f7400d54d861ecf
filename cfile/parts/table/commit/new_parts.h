// Publishes new parts of a table (cfile/FORMAT.md, Commits).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/schema.h"
#include "cfile/storage.h"

namespace cfile::internal {

// What one commit adds to a table.
struct NewParts {
  enum class Table { kMustBeNew, kMustExist, kMayExist };

  Table table = Table::kMustExist;
  Schema schema;  // of the table
  std::optional<ColumnIdentities> identities = {};
  std::vector<TablePart> parts = {};           // their files are complete
  OldestReader oldest_reader = kNewestReader;  // of the table, when the parts were begun
  // The names of the parts that the new parts replace.
  std::vector<std::string> replaced = {};
  // What the caller knows about the replaced parts. Empty: nothing.
  std::vector<TablePart> replaced_parts = {};
  // As in ManifestChange.
  bool may_reveal = false;
  std::optional<std::pair<std::string, std::string>> left_out = {};
  std::string job_id = {};  // TableContents::job_ids gets this id. Empty: there is no id
};

// How far a commit has come.
enum class Publication {
  kNot,      // table.cft does not name the parts
  kUnknown,  // table.cft may name the parts
  kEarlier,  // an earlier commit has published the parts, or has had the same job_id
  kNow,      // this commit has published the parts
};

// Makes table.cft name `parts` after all other parts, or in the place of the replaced parts.
// Does nothing if an earlier commit has published `parts`, or has had the same job_id.
// Sets `publication`, even if the result is an error.
//
// kAborted: the table is not as `parts` says, files of the parts are gone, or CollectGarbage is
// removing the parts. kAlreadyExists: there is no table, but the place holds other files.
// kFailedPrecondition: the table has lost table.cft. kInvalidArgument: some of the parts are in the
// table, but not all. Other errors: those of CommitTable.
absl::Status Publish(Storage& storage, const ReaderOptions& limits, const NewParts& parts,
                     Publication& publication);

}  // namespace cfile::internal
