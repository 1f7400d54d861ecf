// New files of columns in the parts that a table has, and the commit that names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/options.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/schema.h"
#include "cfile/storage.h"

namespace cfile::internal {

struct TableColumns {
  Schema schema;
  ColumnIdentities identities;

  // Returns a new id for a column. kOutOfRange: all ids are used.
  absl::StatusOr<uint32_t> NewId();
  // Adds a column after all others. `value`: its default in memcmp form; nullopt: there is none.
  absl::Status Add(ColumnSchema column, std::optional<std::string> value);
  // Puts the columns into the order of `order`, a list of positions, and drops those that are not
  // in it. Precondition: no key column is dropped.
  void Rearrange(std::span<const size_t> order);
};

absl::Status NoTable(const Storage& storage);
absl::Status NoColumn(const Storage& storage, std::string_view name);
// The error that a column of the merge rule may be neither dropped nor replaced.
absl::Status IsColumnOfRule(const Storage& storage, const Schema& schema, size_t column);
// kUnimplemented if the table holds nested records.
absl::Status CheckFlat(const Storage& storage, const Schema& schema);

// Returns the metadata of the table that the file of its first column has (TablePairs); none if
// this file is damaged or gone, so that its column can still be dropped or replaced.
absl::StatusOr<MetadataPairs> FirstColumnMetadata(const Storage& storage, const Manifest& table,
                                                  const ReaderOptions& options);

// Changes columns of all parts of a table. The caller calls Begin and ReadParts, then NewFile for
// each new file, puts the finished files into parts(), and calls Commit. Thread-compatible; several
// threads may also call NewFile at the same time.
class ColumnChange {
 public:
  struct Part {
    std::string name;
    uint64_t num_rows = 0;
    std::vector<std::string> watched;  // the files of the watched columns
    // The new files. The key is the column's number in the new schema.
    std::vector<std::pair<size_t, TablePartColumn>> files;
  };

  explicit ColumnChange(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {}
  // Removes the new files, unless a commit has named them.
  ~ColumnChange();

  // Reads table.cft. Call first. `options`: of the new files. kNotFound: there is no table.
  absl::Status Begin(std::span<const WriterOptions> options);
  // Reads the parts. Commit fails if another program has changed values of `columns`, the watched
  // columns, since.
  absl::Status ReadParts(std::vector<size_t> columns);

  const TableContents& before() const { return manifest_->root(); }
  std::vector<Part>& parts() { return parts_; }
  Storage& storage() { return *storage_; }

  absl::StatusOr<MetadataPairs> FirstColumnMetadata() const {
    return internal::FirstColumnMetadata(*storage_, *manifest_, limits());
  }

  // Begins a new file of column `number` in a part.
  absl::StatusOr<std::unique_ptr<ColumnWriter>> NewFile(const Part& part, size_t number,
                                                        const ColumnSchema& column,
                                                        const WriterOptions& options);

  // kFailedPrecondition: the oldest reader of the table cannot read a table with these columns.
  // Commit checks this, too.
  absl::Status CheckColumns(const TableColumns& columns) const;

  // Publishes the files in parts(). `columns`: the new columns of the table.
  // nullopt: the columns stay the same, and parts may have been added since Begin.
  // `added`: complete new parts, with the new columns. Owns their folders from now on.
  // kAborted: there was another change since Begin, or files are gone.
  absl::Status Commit(const std::optional<TableColumns>& columns,
                      std::vector<TablePart> added = {});

 private:
  absl::Status Aborted(std::string_view what) const;
  absl::StatusOr<std::optional<ManifestEdit>> Edit(const Manifest* now,
                                                   const std::optional<TableColumns>& columns);
  // kAborted if the change does not fit the present table.
  absl::Status CheckTable(const Manifest& now, bool parts_may_be_added) const;
  // kAborted if a new file is gone, or may be removed as garbage at any time.
  absl::Status CheckFiles(const Manifest& now) const;
  ReaderOptions limits() const;

  const std::shared_ptr<Storage> storage_;
  size_t max_table_file_bytes_ = WriterOptions().max_metadata_size_bytes;
  std::unique_ptr<const Manifest> manifest_;  // the table at the time of Begin
  std::vector<size_t> watched_;
  std::vector<Part> parts_;
  std::unordered_map<std::string, size_t> by_name_;  // positions in parts_
  std::vector<TablePart> added_;
  bool published_ = false;          // table.cft may name the new files
  std::mutex mutex_;                // guards the next member
  std::vector<std::string> paths_;  // the paths of the new files
};

}  // namespace cfile::internal
