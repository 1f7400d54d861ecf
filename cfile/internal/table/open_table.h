// An open table, shared by TableReader and its cursors.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/io/file_system.h"
#include "cfile/internal/table/open_files.h"
#include "cfile/internal/table/scan_source.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/reader.h"
#include "cfile/table.h"

namespace cfile {

// Thread-safe.
class TableReader::Impl final : public internal::ScanSource {
 public:
  // The contents of table.cft, and the identities of the parts' folders: nullopt for parts with
  // unique names, and for folders that do not exist.
  struct Contents {
    internal::TableContents table;
    std::vector<std::optional<internal::FolderIdentity>> folders;  // by part
  };

  // Implements TableReader::Open.
  static absl::StatusOr<std::shared_ptr<const Impl>> Open(const std::string& directory,
                                                          const ReaderOptions& options);

  Impl(std::string directory, const ReaderOptions& options, Contents contents)
      : directory_(std::move(directory)),
        options_(options),
        contents_(std::move(contents.table)),
        folders_(std::move(contents.folders)),
        columns_(internal::StoredColumns(contents_.schema)),
        files_(contents_.parts.size() * columns_.size(), options) {
    for (const internal::TablePart& part : contents_.parts) {
      first_ordinals_.push_back(num_rows_);
      num_rows_ += part.num_rows;
    }
  }

  const internal::TableContents& contents() const { return contents_; }
  const std::vector<ColumnSchema>& columns() const { return columns_; }
  const std::string& directory() const { return directory_; }
  const std::string& name() const override { return directory_; }
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
      return absl::InvalidArgumentError(absl::StrCat(directory_, ": column ", schema.name,
                                                     " holds ", schema.type.ToString(),
                                                     ", which cannot be read as this C++ type"));
    }
    if (schema.has_levels()) {
      return absl::InvalidArgumentError(absl::StrCat(directory_, ": column ", schema.name,
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
  // kAborted if the part's folder has been replaced by another folder since the table was opened.
  absl::Status CheckFolder(size_t part) const;
  // `status`: the error of opening a part's file. Returns kAborted instead if table.cft no longer
  // names the part.
  absl::Status ErrorOfMissing(size_t part, const absl::Status& status) const;
  absl::Status Replaced() const;

  const std::string directory_;
  const ReaderOptions options_;
  const internal::TableContents contents_;
  const std::vector<std::optional<internal::FolderIdentity>> folders_;
  const std::vector<ColumnSchema> columns_;  // the columns that have files
  std::vector<uint64_t> first_ordinals_;     // by part
  uint64_t num_rows_ = 0;
  // One file for each column of each part, part by part.
  mutable internal::OpenFiles files_;
};

}  // namespace cfile
