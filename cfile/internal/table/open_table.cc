#include "cfile/internal/table/open_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/table/compound_key_check.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::DataLoss;
using internal::FolderIdentity;
using internal::TableContents;
using internal::TablePart;
using internal::TablePartColumn;

// kDataLoss if the file differs from its description in table.cft.
absl::Status CheckColumnFile(const std::string& path, const FileInfo& info,
                             const TablePartColumn& expected, const ColumnSchema& column) {
  if (info.file_size_bytes != expected.size_bytes) {
    return DataLoss(path, ": ", expected.size_bytes, " bytes expected by table.cft, found ",
                    info.file_size_bytes);
  }
  if (info.num_rows != expected.num_rows) {
    return DataLoss(path, ": ", expected.num_rows, " rows expected by table.cft, found ",
                    info.num_rows);
  }
  const LevelLimits levels = info.has_levels() ? info.levels : LevelLimits();
  if (levels != column.levels) {
    const auto name = [](const LevelLimits& limits) {
      return absl::StrCat(limits.max_repetition, " and ", limits.max_definition);
    };
    return DataLoss(path, ": levels up to ", name(column.levels), " expected by table.cft, found ",
                    name(levels));
  }
  if (info.type != column.type || (!column.has_levels() && info.nullable != column.nullable)) {
    const auto name = [](const ColumnType& type, bool nullable) {
      return absl::StrCat(nullable ? "nullable " : "", type.ToString());
    };
    return DataLoss(path, ": ", name(column.type, column.nullable),
                    " expected by table.cft, found ", name(info.type, info.nullable));
  }
  return absl::OkStatus();
}

// -0 equals +0, so a bound that is zero includes both.
template <typename T>
void WidenZeroBounds(BlockStatistics& bounds) {
  std::string negative;
  std::string positive;
  internal::AppendKey(-T{}, negative);
  internal::AppendKey(T{}, positive);
  if (bounds.min_key == positive) bounds.min_key = negative;
  if (bounds.max_key == negative) bounds.max_key = positive;
}

std::string PartPath(const std::string& directory, const TablePart& part) {
  return absl::StrCat(directory, "/", part.directory);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TableReader::Impl>> TableReader::Impl::Open(
    const std::string& directory, const ReaderOptions& options) {
  const std::string path = internal::TableFilePath(directory);
  // Earlier versions gave parts names that are not unique. For such parts, remember the identities
  // of their folders, and try again if table.cft was replaced meanwhile.
  constexpr int kMostTries = 10;
  for (int i = 0; i < kMostTries; ++i) {
    CFILE_ASSIGN_OR_RETURN(const std::optional<FolderIdentity> before, internal::IdentityOf(path));
    CFILE_ASSIGN_OR_RETURN(const std::string bytes,
                           internal::ReadTableFile(path, options.max_metadata_size_bytes));
    Contents contents;
    CFILE_ASSIGN_OR_RETURN(contents.table, internal::ParseTable(bytes, path, options));
    bool all_unique = true;
    for (const TablePart& part : contents.table.parts) {
      std::optional<FolderIdentity>& folder = contents.folders.emplace_back();
      if (internal::IsUniquePartName(part.directory)) continue;
      all_unique = false;
      CFILE_ASSIGN_OR_RETURN(folder, internal::IdentityOf(PartPath(directory, part)));
    }
    if (!all_unique) {
      CFILE_ASSIGN_OR_RETURN(const auto after, internal::IdentityOf(path));
      if (before != after) continue;
    }
    return std::make_shared<const Impl>(directory, options, std::move(contents));
  }
  return absl::AbortedError(
      absl::StrCat(path, ": the table was replaced repeatedly while it was read"));
}

absl::Status TableReader::Impl::Replaced() const {
  return absl::AbortedError(
      absl::StrCat(directory_, ": the table has been replaced since this reader opened it"));
}

absl::Status TableReader::Impl::CheckFolder(size_t part) const {
  const TablePart& in_part = contents_.parts[part];
  if (internal::IsUniquePartName(in_part.directory)) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const auto now, internal::IdentityOf(PartPath(directory_, in_part)));
  return now == folders_[part] ? absl::OkStatus() : Replaced();
}

absl::Status TableReader::Impl::ErrorOfMissing(size_t part, const absl::Status& status) const {
  const auto bytes = internal::ReadTableFile(internal::TableFilePath(directory_),
                                             options_.max_metadata_size_bytes);
  if (absl::IsNotFound(bytes.status())) return Replaced();
  if (!bytes.ok() || bytes->find(contents_.parts[part].directory) != bytes->npos) return status;
  return absl::AbortedError(absl::StrCat(
      directory_, ": snapshot expired: since this reader opened the table, ",
      contents_.parts[part].directory,
      " was dropped and its files were collected as garbage, or the table has been replaced; open "
      "the table again"));
}

absl::StatusOr<Reader> TableReader::Impl::OpenColumn(size_t part, size_t column) const {
  assert(part < num_parts() && column < columns_.size());
  const size_t number = part * columns_.size() + column;
  if (const std::optional<Reader> open = files_.Find(number)) return *open;
  const TablePart& in_part = contents_.parts[part];
  const std::string path = internal::ColumnFilePath(directory_, in_part, column);
  absl::StatusOr<Reader> reader = Reader::Open(path, options_);
  if (absl::IsNotFound(reader.status())) return ErrorOfMissing(part, reader.status());
  // Check the folder after the file was opened, because an open file cannot be replaced.
  CFILE_RETURN_IF_ERROR(CheckFolder(part));
  if (!reader.ok()) return reader.status();
  CFILE_RETURN_IF_ERROR(
      CheckColumnFile(path, reader->info(), in_part.columns[column], columns_[column]));
  return files_.Keep(number, *std::move(reader));
}

BlockStatistics TableReader::Impl::Bounds(size_t part, size_t column) const {
  const TablePartColumn& in_part = contents_.parts[part].columns[column];
  BlockStatistics bounds;
  const ColumnSchema& schema = columns_[column];
  // The counts of nullable columns with levels are counts of entries; there is one for each row
  // unless the column is repeated.
  bounds.null_count = in_part.null_count;
  bounds.present_count = in_part.num_rows - std::min(in_part.null_count, in_part.num_rows);
  bounds.min_key = in_part.min_key;
  bounds.max_key = in_part.max_key;
  if (schema.type.physical() == PhysicalType::kFloat) WidenZeroBounds<float>(bounds);
  if (schema.type.physical() == PhysicalType::kDouble) WidenZeroBounds<double>(bounds);
  return bounds;
}

void TableReader::Impl::CompareKeys(size_t part, const Reader& keys, VerifyReport& report) const {
  std::vector<Reader> columns;
  for (const size_t column : contents_.schema.key_columns) {
    absl::StatusOr<Reader> reader = OpenColumn(part, column);
    if (!reader.ok()) return;
    columns.push_back(*std::move(reader));
  }
  const auto wrong = internal::FindWrongKey(contents_.schema.key_types(), columns, keys);
  if (!wrong.ok() || !wrong->has_value()) return;
  const internal::WrongKey& key = **wrong;
  const std::string path =
      internal::ColumnFilePath(directory_, contents_.parts[part], columns_.size() - 1);
  report.damages.push_back({.status = DataLoss(path, ": row ", key.row, ": ", key.what),
                            .first_ordinal = key.row,
                            .last_ordinal = key.row});
}

}  // namespace cfile
