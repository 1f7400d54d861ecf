// Changes of the parts of a table (cfile/FORMAT.md, Table).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/table/manifest/chunk_file.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/table_contents.h"

namespace cfile::internal {

struct ManifestChange {
  // The names of the parts to remove.
  std::vector<std::string> removed = {};
  // The new parts, in order, in the place of the first part in `removed`, or after the last part.
  // EditManifest sets TablePart::order of a new part if it is empty.
  std::vector<TablePart> added = {};
  // Whether rows that removed parts have replaced (Schema::merge_rule) may count again.
  bool may_reveal = false;
  // The least and the greatest key of rows that the new parts leave out because no older part had
  // their keys (Schema::merge_rule). nullopt: no rows are left out.
  std::optional<std::pair<std::string, std::string>> left_out = {};
  // New descriptions of the parts with these names, which stay where they are.
  std::vector<TablePart> updated = {};
};

struct ManifestEdit {
  TableContents root;  // the new table.cft
  // The files that must be durable before the new table.cft names them.
  std::vector<NewChunk> new_chunks = {};
  std::vector<TablePart> added = {};             // the new parts
  std::vector<TablePart> updated = {};           // the parts with new descriptions
  std::vector<TablePart> removed = {};           // the parts that are no longer in the table
  std::vector<std::string> removed_chunks = {};  // the files of chunks that are no longer needed
  bool removes_columns = false;                  // parts that stay may lose files of columns
};

// Applies `change` to `manifest`, without changing any file: makes new chunks instead of those that
// hold changed parts or lead to them, and reads only these. An append reads no chunk; under a merge
// rule, a removal reads all. Looks for named parts from the last part to the first.
//
// kNotFound: one of the names in `change` is not the name of a part. kFailedPrecondition: the table
// has a merge rule, and rows that a removed part may have replaced would count again. kAborted: an
// older part has got a key of `left_out`. kOutOfRange: the description of one part exceeds
// max_metadata_size_bytes of the manifest. Other errors: those of Manifest. Precondition: the names
// in `removed` and `updated` are different.
absl::StatusOr<ManifestEdit> EditManifest(const Manifest& manifest, ManifestChange change);

// Returns `contents` with another schema, whose columns have `identities`; to change a table, pass
// a Manifest of the result to EditManifest. The descriptions of parts and chunks still describe the
// columns that stay. kInvalidArgument: a part would lack a column that has no default and is not
// nullable.
absl::StatusOr<TableContents> WithSchema(const TableContents& contents, const Schema& schema,
                                         const ColumnIdentities& identities);

// Returns the identities of the columns of `contents`; if it has none, the id of each column is its
// number.
ColumnIdentities IdentitiesOf(const TableContents& contents);

}  // namespace cfile::internal
