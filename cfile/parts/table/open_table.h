// An open table, shared by TableReader and its cursors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/read/file_usage.h"
#include "cfile/core/read/shared_requests.h"
#include "cfile/packed_file.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/merge/applied_rule.h"
#include "cfile/parts/table/open_files.h"
#include "cfile/parts/table/scan_source.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/whole_files.h"
#include "encodings/core/assert.h"

namespace cfile {
namespace internal {
class NewestRows;
}  // namespace internal

// Thread-safe.
class TableReader::Impl final : public internal::ScanSource {
 public:
  // Implements TableReader::Open and Refresh. Returns `known`, which may be null, if
  // table.cft has the same bytes as when `known` was opened.
  static absl::StatusOr<std::shared_ptr<const Impl>> Open(
      std::shared_ptr<Storage> storage, const ReaderOptions& options,
      std::shared_ptr<const Impl> known = nullptr);

  // The identities of files (StorageEntry::identity) by path, for each part that table.cft itself
  // names and whose name is not unique.
  using Identities = std::map<std::string, std::map<std::string, std::string>>;

  // `bytes`: of table.cft.
  Impl(std::shared_ptr<Storage> storage, const ReaderOptions& options, std::string bytes,
       internal::TableContents root, Identities identities);

  // Implements TableReader::StoredRows.
  std::shared_ptr<const Impl> WithStoredRows() const {
    ReaderOptions options = options_;
    options.stored_rows = true;
    return std::make_shared<Impl>(storage_, options, bytes_, manifest_.root(), identities_);
  }

  const internal::Manifest& manifest() const { return manifest_; }
  const std::vector<ColumnSchema>& columns() const { return manifest_.layout().columns(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  const std::string& name() const override { return storage_->name(); }
  const Schema& schema() const override { return manifest_.root().schema; }
  const ReaderOptions& options() const override { return options_; }
  const internal::SharedUsage& usage() const { return *files_.usage(); }
  uint64_t num_rows() const override { return manifest_.num_rows(); }
  size_t num_parts() const override { return manifest_.num_parts(); }

  absl::StatusOr<internal::ManifestPart> Part(size_t part) const override {
    return manifest_.Part(part);
  }
  absl::StatusOr<internal::ManifestPart> PartOfRow(uint64_t ordinal) const override {
    return manifest_.PartOfRow(ordinal);
  }
  absl::StatusOr<size_t> PassOver(size_t part, bool reverse, Excludes excluded) const override;
  const internal::AppliedRule* rule() const override { return rule_ ? &*rule_ : nullptr; }
  // What the scans of this table share (merge/newest_rows.h); the first call makes it.
  std::shared_ptr<internal::NewestRows> SharedRows(
      absl::FunctionRef<std::shared_ptr<internal::NewestRows>()> make) const {
    const std::lock_guard lock(mutex_);
    if (newest_ == nullptr) newest_ = make();
    return newest_;
  }

  // Precondition: the column exists.
  absl::Status CheckHoldsType(size_t column, internal::HoldsFunction* holds) const {
    CFILE_ASSERT(column < columns().size());
    const ColumnSchema& schema = columns()[column];
    if (holds(schema.type)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name(), ": column ", schema.name, " holds ",
                                                   schema.type.ToString(),
                                                   ", which cannot be read as this C++ type"));
  }
  // Also if the column has levels.
  absl::Status CheckHoldsValues(size_t column, internal::HoldsFunction* holds) const {
    CFILE_RETURN_IF_ERROR(CheckHoldsType(column, holds));
    return CheckNoLevels(column);
  }
  absl::Status CheckNoLevels(size_t column) const {
    if (!columns()[column].has_levels()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(name(), ": column ", columns()[column].name,
                                                   " has levels, so it cannot be read as one "
                                                   "value per row"));
  }

  // Implements TableReader::OpenColumn.
  absl::StatusOr<Reader> OpenColumn(const internal::ManifestPart& part,
                                    size_t column) const override;
  bool opens_at_once() const override { return storage_->OpensAtOnce(); }
  BegunFiles OpenTogether(std::span<const PartColumn> files) const override;
  BlockStatistics Bounds(const internal::ManifestPart& part, size_t column) const override;

  // Finds the first row of a part whose compound key does not match the row's values in the key
  // columns, and adds this row to `report`. `keys`: a reader of the part's compound keys. Does
  // nothing if a key column cannot be read: the error is in the report of this column.
  void CompareKeys(const internal::ManifestPart& part, const Reader& keys,
                   VerifyReport& report) const;

 private:
  // Makes a file in memory for a column that the part lacks.
  absl::StatusOr<Reader> DefaultColumn(const internal::TablePart& part, size_t column) const;
  // The number of a file in files_.
  uint64_t NumberOf(const internal::ManifestPart& part, size_t column) const {
    return part.number * columns().size() + column;
  }
  // An open packed file of a part.
  struct PackedPart {
    std::shared_ptr<const Source> source;
    std::vector<PackedColumn> columns;
    std::unique_ptr<internal::FileUsage> usage;
  };
  using PackedPartPtr = std::shared_ptr<const PackedPart>;

  // Checks that a file of a part is there and was not replaced. `source`: the result of opening the
  // file at `path` in the storage.
  absl::StatusOr<std::shared_ptr<const Source>> Checked(
      const internal::TablePart& part, const std::string& path,
      absl::StatusOr<std::shared_ptr<const Source>> source) const;
  // Opens a column of the part. `whole`: true if `source` comes from BeginFile.
  absl::StatusOr<Reader> OpenFile(const internal::TablePart& part, size_t column,
                                  absl::StatusOr<std::shared_ptr<const Source>> source,
                                  bool whole) const;
  // Returns the source of a column that is in its own file.
  absl::StatusOr<std::shared_ptr<const Source>> OpenLoose(const internal::TablePart& part,
                                                          size_t column) const {
    const std::string path = internal::PathInStorage(part, column);
    return Checked(part, path, storage_->Open(path));
  }
  // Returns the source of a column in a packed file.
  absl::StatusOr<std::shared_ptr<const Source>> ColumnOf(const PackedPartPtr& packed,
                                                         const internal::TablePart& part,
                                                         size_t column) const;
  // Opens the packed file of a part, unless it is open.
  absl::StatusOr<PackedPartPtr> OpenPacked(const internal::ManifestPart& part) const;
  // `source`: the result of opening the packed file in the storage. `whole`: read the whole file.
  absl::StatusOr<PackedPartPtr> KeepPacked(const internal::ManifestPart& part,
                                           absl::StatusOr<std::shared_ptr<const Source>> source,
                                           bool whole) const;
  // Null: the packed file is not open.
  PackedPartPtr FindPacked(const internal::ManifestPart& part) const;
  // Opens packed files together, and reads the ends of those columns in `files` that are in packed
  // files. Adds to `begun` what the caller must keep.
  void OpenPackedTogether(std::span<const PartColumn> files, BegunFiles& begun) const;
  // Reads the ends of several columns of a packed file together.
  void BeginColumns(const PackedPartPtr& packed, std::span<const PartColumn> files,
                    BegunFiles& begun) const;

  // The number of a part's packed file among the begun files.
  static uint64_t NumberOfPacked(const internal::ManifestPart& part) { return ~part.number; }
  // Begins to read a file of the part, and returns its source, or that of another thread that has
  // begun to read it. Returns null if the file is not small, or if the storage cannot read it in
  // this way. `number`: the file's number.
  std::shared_ptr<const Source> BeginFile(const internal::TablePart& part, uint64_t number,
                                          const std::string& path, uint64_t size_bytes) const;
  // Keeps the source of a begun file as long as a caller keeps it, and returns it. Precondition:
  // mutex_ is locked.
  std::shared_ptr<const Source> KeepBegun(uint64_t number,
                                          std::shared_ptr<const Source> source) const;
  // Returns the source of the file with this number that BeginFile has begun to read; null if there
  // is none, or if it was destroyed since then.
  std::shared_ptr<const Source> FindBegun(uint64_t number) const;
  // kAborted if a file of a part has been replaced since the table was opened.
  absl::Status CheckNotReplaced(const std::string& folder, const std::string& path) const;

  const std::shared_ptr<Storage> storage_;
  const WholeFiles* const whole_files_;  // storage_, if it can open whole files; otherwise null
  const ReaderOptions options_;
  const std::string bytes_;  // of table.cft
  const Identities identities_;
  const internal::Manifest manifest_;
  const std::optional<internal::AppliedRule> rule_;  // nullopt: readers get all rows
  // One file for each column of each part, part by part.
  mutable internal::OpenFiles files_;
  // Threads that need the same file, by its number in files_, share one call that opens it.
  mutable internal::SharedRequests<uint64_t, absl::StatusOr<Reader>> opening_;
  // The same for packed files. The key is the number of the part.
  mutable internal::SharedRequests<uint64_t, absl::StatusOr<PackedPartPtr>> opening_packed_;
  mutable std::mutex mutex_;  // guards the following
  // The sources of files that BeginFile has begun to read. The key is the file's number in files_,
  // or NumberOfPacked. A source lives as long as a caller of OpenTogether keeps it.
  mutable std::map<uint64_t, std::weak_ptr<const Source>> begun_;
  mutable std::shared_ptr<internal::NewestRows> newest_;  // null: not made yet
  // The open packed files, by the number of the part. They live as long as a reader of a column.
  mutable std::map<uint64_t, std::weak_ptr<const PackedPart>> packed_;
  // If packed_ has so many entries, those of closed files are removed.
  mutable size_t most_packed_ = 16;
};

}  // namespace cfile
