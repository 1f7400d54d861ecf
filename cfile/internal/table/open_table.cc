#include "cfile/internal/table/open_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/manifest/part_bounds.h"
#include "cfile/internal/table/compound_key_check.h"
#include "cfile/internal/table/table_commit.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::DataLoss;
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

// The identities of the files in a folder, by path.
absl::StatusOr<std::map<std::string, std::string>> FileIdentitiesOf(const Storage& storage,
                                                                    const std::string& folder) {
  std::map<std::string, std::string> identities;
  CFILE_ASSIGN_OR_RETURN(std::vector<StorageEntry> files, storage.List(folder));
  for (StorageEntry& file : files) {
    identities.emplace(std::move(file.path), std::move(file.identity));
  }
  return identities;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TableReader::Impl>> TableReader::Impl::Open(
    std::shared_ptr<Storage> storage, const ReaderOptions& options) {
  const std::string path = internal::TableFilePath(storage->name());
  // Earlier versions gave parts names that are not unique. For such parts, remember the identities
  // of their files, and try again if table.cft was replaced meanwhile.
  constexpr int kMostTries = 10;
  for (int i = 0; i < kMostTries; ++i) {
    CFILE_ASSIGN_OR_RETURN(
        const VersionedObject object,
        storage->Read(internal::kTableFileName, options.max_metadata_size_bytes));
    CFILE_ASSIGN_OR_RETURN(TableContents contents,
                           internal::ParseTable(object.bytes, path, options));
    Identities identities(contents.parts.size());
    bool all_unique = true;
    for (size_t part = 0; part < contents.parts.size(); ++part) {
      if (internal::IsUniquePartName(contents.parts[part].directory)) continue;
      all_unique = false;
      CFILE_ASSIGN_OR_RETURN(identities[part],
                             FileIdentitiesOf(*storage, contents.parts[part].directory));
    }
    if (!all_unique) {
      const auto after = storage->Read(internal::kTableFileName, options.max_metadata_size_bytes);
      if (!after.ok() || after->version != object.version) continue;
    }
    return std::make_shared<const Impl>(std::move(storage), options, std::move(contents),
                                        std::move(identities));
  }
  return absl::AbortedError(
      absl::StrCat(path, ": the table was replaced repeatedly while it was read"));
}

absl::Status TableReader::Impl::Replaced() const {
  return absl::AbortedError(
      absl::StrCat(name(), ": the table has been replaced since this reader opened it"));
}

absl::Status TableReader::Impl::CheckNotReplaced(size_t part, const std::string& path) const {
  const std::string& folder = contents_.parts[part].directory;
  if (internal::IsUniquePartName(folder)) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const auto now, FileIdentitiesOf(*storage_, folder));
  const auto before = identities_[part].find(path);
  const auto after = now.find(path);
  const bool same = before == identities_[part].end()
                        ? after == now.end()
                        : after != now.end() && after->second == before->second;
  return same ? absl::OkStatus() : Replaced();
}

absl::Status TableReader::Impl::ErrorOfMissing(size_t part, const absl::Status& status) const {
  const auto now = internal::ReadTable(*storage_, options_);
  if (absl::IsNotFound(now.status())) return Replaced();
  const std::string& folder = contents_.parts[part].directory;
  if (!now.ok() || internal::FindParts(*storage_, {&folder, 1}, *now).ok()) return status;
  return absl::AbortedError(absl::StrCat(
      name(), ": snapshot expired: since this reader opened the table, ", folder,
      " was dropped and its files were collected as garbage, or the table has been replaced; open "
      "the table again"));
}

absl::StatusOr<Reader> TableReader::Impl::OpenColumn(size_t part, size_t column) const {
  assert(part < num_parts() && column < columns_.size());
  const size_t number = part * columns_.size() + column;
  if (const std::optional<Reader> open = files_.Find(number)) return *open;
  const TablePart& in_part = contents_.parts[part];
  const std::string path = internal::PathInStorage(in_part, column);
  auto source = storage_->Open(path);
  if (absl::IsNotFound(source.status())) return ErrorOfMissing(part, source.status());
  // Check the identity after the file was opened, because an open file cannot be replaced.
  CFILE_RETURN_IF_ERROR(CheckNotReplaced(part, path));
  CFILE_RETURN_IF_ERROR(source.status());
  CFILE_ASSIGN_OR_RETURN(Reader reader, Reader::Open(*std::move(source), options_));
  CFILE_RETURN_IF_ERROR(CheckColumnFile(internal::ColumnFilePath(name(), in_part, column),
                                        reader.info(), in_part.columns[column], columns_[column]));
  return files_.Keep(number, std::move(reader));
}

BlockStatistics TableReader::Impl::Bounds(size_t part, size_t column) const {
  return internal::BoundsOf(contents_.parts[part].columns[column], columns_[column]);
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
      internal::ColumnFilePath(name(), contents_.parts[part], columns_.size() - 1);
  report.damages.push_back({.status = DataLoss(path, ": row ", key.row, ": ", key.what),
                            .first_ordinal = key.row,
                            .last_ordinal = key.row});
}

}  // namespace cfile
