// An open table, shared by TableReader and its cursors.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/table/open_files.h"
#include "cfile/internal/table/scan_source.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/table.h"

namespace cfile {

// Thread-safe.
class TableReader::Impl final : public internal::ScanSource {
 public:
  // Implements TableReader::Open.
  static absl::StatusOr<std::shared_ptr<const Impl>> Open(std::shared_ptr<Storage> storage,
                                                          const ReaderOptions& options);

  // For each part the identities of its files (StorageEntry::identity), by path. Only for parts with
  // names that are not unique.
  using Identities = std::vector<std::map<std::string, std::string>>;

  Impl(std::shared_ptr<Storage> storage, const ReaderOptions& options,
       internal::TableContents contents, Identities identities)
      : storage_(std::move(storage)),
        options_(options),
        contents_(std::move(contents)),
        identities_(std::move(identities)),
        columns_(internal::StoredColumns(contents_.schema)),
        files_(contents_.parts.size() * columns_.size(), options) {
    for (const internal::TablePart& part : contents_.parts) {
      first_ordinals_.push_back(num_rows_);
      num_rows_ += part.num_rows;
    }
  }

  const internal::TableContents& contents() const { return contents_; }
  const std::vector<ColumnSchema>& columns() const { return columns_; }
  const std::string& name() const override { return storage_->name(); }
  const Schema& schema() const override { return contents_.schema; }
  const ReaderOptions& options() const { return options_; }
  uint64_t num_rows() const override { return num_rows_; }
  size_t num_parts() const override { return contents_.parts.size(); }
  uint64_t first_ordinal(size_t part) const override {
    assert(part < num_parts());
    return first_ordinals_[part];
  }

  // The part that contains row `ordinal`. Precondition: ordinal < num_rows().
  size_t PartOf(uint64_t ordinal) const {
    assert(ordinal < num_rows_);
    // If several parts begin at the same ordinal, only the last of them has rows.
    const auto after = std::upper_bound(first_ordinals_.begin(), first_ordinals_.end(), ordinal);
    return static_cast<size_t>(after - first_ordinals_.begin()) - 1;
  }

  // kInvalidArgument if the column does not hold T, or has levels.
  template <typename T>
  absl::Status CheckHoldsValues(size_t column) const {
    const ColumnSchema& schema = columns_[column];
    if (!HoldsType<T>(schema.type)) {
      return absl::InvalidArgumentError(absl::StrCat(name(), ": column ", schema.name, " holds ",
                                                     schema.type.ToString(),
                                                     ", which cannot be read as this C++ type"));
    }
    if (schema.has_levels()) {
      return absl::InvalidArgumentError(absl::StrCat(name(), ": column ", schema.name,
                                                     " has levels, so it cannot be read as one "
                                                     "value per row"));
    }
    return absl::OkStatus();
  }

  // Implements TableReader::OpenColumn.
  absl::StatusOr<Reader> OpenColumn(size_t part, size_t column) const override;
  BlockStatistics Bounds(size_t part, size_t column) const override;

  // Finds the first row of a part whose compound key does not match the row's values in the key
  // columns, and adds this row to `report`. `keys`: a reader of the part's compound keys. Does
  // nothing if a key column cannot be read: the error is in the report of this column.
  void CompareKeys(size_t part, const Reader& keys, VerifyReport& report) const;

 private:
  // kAborted if a file of the part has been replaced since the table was opened.
  absl::Status CheckNotReplaced(size_t part, const std::string& path) const;
  // `status`: the error of opening a part's file. Returns kAborted instead if table.cft no longer
  // names the part.
  absl::Status ErrorOfMissing(size_t part, const absl::Status& status) const;
  absl::Status Replaced() const;

  const std::shared_ptr<Storage> storage_;
  const ReaderOptions options_;
  const internal::TableContents contents_;
  const Identities identities_;
  const std::vector<ColumnSchema> columns_;  // the columns that have files
  std::vector<uint64_t> first_ordinals_;     // by part
  uint64_t num_rows_ = 0;
  // One file for each column of each part, part by part.
  mutable internal::OpenFiles files_;
};

}  // namespace cfile
