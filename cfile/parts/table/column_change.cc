#include "cfile/parts/table/column_change.h"

#include <limits>
#include <new>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/packed/packed_part.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<uint32_t> TableColumns::NewId() {
  if (identities.next_id == std::numeric_limits<uint32_t>::max()) {
    return absl::OutOfRangeError("a table has at most 2^32 - 1 columns, dropped ones included");
  }
  return identities.next_id++;
}

absl::Status TableColumns::Add(ColumnSchema column, std::optional<std::string> value) {
  CFILE_ASSIGN_OR_RETURN(const uint32_t id, NewId());
  // The id of the compound keys stays the last one.
  identities.ids.insert(identities.ids.begin() + static_cast<ptrdiff_t>(identities.defaults.size()),
                        id);
  identities.defaults.push_back(std::move(value));
  schema.columns.push_back(std::move(column));
  return absl::OkStatus();
}

void TableColumns::Rearrange(std::span<const size_t> order) {
  const Schema old = std::move(schema);
  const ColumnIdentities old_identities = std::move(identities);
  schema = {};
  identities = {.ids = {}, .defaults = {}, .next_id = old_identities.next_id};
  std::vector<size_t> places(old.columns.size());
  for (const size_t column : order) {
    places[column] = schema.columns.size();
    schema.columns.push_back(old.columns[column]);
    identities.ids.push_back(old_identities.ids[column]);
    identities.defaults.push_back(old_identities.defaults[column]);
  }
  if (old.key_index()) identities.ids.push_back(old_identities.ids.back());
  for (const size_t column : old.key_columns) schema.key_columns.push_back(places[column]);
  for (const size_t column : old.nulls_last) schema.nulls_last.push_back(places[column]);
  schema.merge_rule = old.merge_rule;
  if (!schema.merge_rule) return;
  MergeRule& rule = *schema.merge_rule;
  if (rule.deleted_column) rule.deleted_column = places[*rule.deleted_column];
  if (rule.time_column) rule.time_column = places[*rule.time_column];
}

absl::Status NoTable(const Storage& storage) {
  return absl::NotFoundError(absl::StrCat(TableFilePath(storage.name()), ": there is no table"));
}

absl::Status NoColumn(const Storage& storage, std::string_view name) {
  return absl::NotFoundError(encodings::StrCat(storage.name(), ": the table has no column ", name));
}

absl::Status IsColumnOfRule(const Storage& storage, const Schema& schema, size_t column) {
  return absl::FailedPreconditionError(
      absl::StrCat(storage.name(), ": column ", schema.columns[column].name,
                   " is a column of the merge rule, which can be neither dropped nor replaced"));
}

absl::Status CheckFlat(const Storage& storage, const Schema& schema) {
  if (!schema.tree.has_value()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      storage.name(), ": the table holds nested records, whose columns cannot be changed so"));
}

absl::StatusOr<MetadataPairs> FirstColumnMetadata(const Storage& storage, const Manifest& table,
                                                  const ReaderOptions& options) {
  if (table.num_parts() == 0) return MetadataPairs();
  CFILE_ASSIGN_OR_RETURN(const ManifestPart first, table.Part(0));
  if (first.part->columns[0].missing) return MetadataPairs();
  auto source = OpenColumnFile(storage, *first.part, 0);
  const absl::StatusOr<Reader> file =
      source.ok() ? Reader::Open(*std::move(source), options) : source.status();
  if (file.ok()) return TablePairs(file->info());
  if (absl::IsNotFound(file.status()) || absl::IsDataLoss(file.status())) return MetadataPairs();
  return file.status();
}

ColumnChange::~ColumnChange() {
  if (published_) return;
  try {
    // The names of the files are unique, so no other files are deleted here.
    for (const std::string& path : paths_) (void)storage_->Delete(path);
    for (const TablePart& part : added_) (void)storage_->Delete(part.directory);
  } catch (const std::bad_alloc&) {
    // After an exception the files stay, as if the process had been killed.
  }
}

absl::Status ColumnChange::Begin(std::span<const WriterOptions> options) {
  if (!options.empty()) max_table_file_bytes_ = options[0].max_metadata_size_bytes;
  CFILE_ASSIGN_OR_RETURN(manifest_, ReadTable(*storage_, limits()));
  return absl::OkStatus();
}

absl::Status ColumnChange::ReadParts(std::vector<size_t> columns) {
  watched_ = std::move(columns);
  return manifest_->ForEachPart([&](const ManifestPart& found) -> absl::StatusOr<bool> {
    by_name_.emplace(found.part->directory, parts_.size());
    Part& part = parts_.emplace_back();
    part.name = found.part->directory;
    part.num_rows = found.part->num_rows;
    for (const size_t column : watched_) {
      part.watched.push_back(found.part->columns[column].file_name);
    }
    return true;
  });
}

absl::StatusOr<std::unique_ptr<ColumnWriter>> ColumnChange::NewFile(const Part& part, size_t number,
                                                                    const ColumnSchema& column,
                                                                    const WriterOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::string file_name, NewColumnFileName(number, column.name));
  {
    const std::lock_guard lock(mutex_);
    paths_.push_back(absl::StrCat(part.name, "/", file_name));
  }
  return NewColumnWriter(*storage_, part.name, std::move(file_name), column, options,
                         before().oldest_reader);
}

absl::Status ColumnChange::CheckColumns(const TableColumns& columns) const {
  return CheckOldestReader(columns.schema, columns.identities, before().oldest_reader,
                           TableFilePath(storage_->name()));
}

absl::Status ColumnChange::Commit(const std::optional<TableColumns>& columns,
                                  std::vector<TablePart> added) {
  added_ = std::move(added);
  return CommitTable(
      *storage_, limits(), [&](const Manifest* now) { return Edit(now, columns); }, &published_);
}

absl::StatusOr<std::optional<ManifestEdit>> ColumnChange::Edit(
    const Manifest* now, const std::optional<TableColumns>& columns) {
  if (now == nullptr) return Aborted("it has been removed");
  CFILE_RETURN_IF_ERROR(CheckTable(*now, /*parts_may_be_added=*/!columns.has_value()));
  CFILE_RETURN_IF_ERROR(CheckFiles(*now));
  std::unique_ptr<const Manifest> changed;
  if (columns) {
    // No part may lack a new column that has no default and is not nullable. All parts have new
    // files of the column, but the descriptions get them only below, so give the column a default
    // until then.
    ColumnIdentities identities = columns->identities;
    for (size_t i = 0; i < identities.defaults.size(); ++i) {
      const bool is_new = identities.ids[i] >= now->layout().next_id();
      if (is_new && !columns->schema.columns[i].nullable && !identities.defaults[i]) {
        identities.defaults[i] = "";
      }
    }
    CFILE_ASSIGN_OR_RETURN(TableContents root,
                           WithSchema(now->root(), columns->schema, identities));
    changed = NewManifest(std::move(root), *storage_, limits());
    now = changed.get();
  }
  std::vector<TablePart> updated;
  CFILE_RETURN_IF_ERROR(now->ForEachPart([&](const ManifestPart& found) -> absl::StatusOr<bool> {
    const auto position = by_name_.find(found.part->directory);
    if (position == by_name_.end() || parts_[position->second].files.empty()) return true;
    TablePart& part = updated.emplace_back(*found.part);
    for (const auto& [column, file] : parts_[position->second].files) part.columns[column] = file;
    return true;
  }));
  CFILE_ASSIGN_OR_RETURN(ManifestEdit edit,
                         EditManifest(*now, {.added = added_, .updated = std::move(updated)}));
  if (columns) edit.root.identities = columns->identities;
  edit.removes_columns = !watched_.empty();
  return edit;
}

absl::Status ColumnChange::Aborted(std::string_view what) const {
  return absl::AbortedError(encodings::StrCat(TableFilePath(storage_->name()), ": ", what,
                                              " since this change of columns began"));
}

absl::Status ColumnChange::CheckTable(const Manifest& now, bool parts_may_be_added) const {
  if (now.root().schema != before().schema || now.root().identities != before().identities) {
    return Aborted("the schema has been changed");
  }
  if (now.root().oldest_reader < before().oldest_reader) {
    return Aborted("the table has got an older oldest reader");
  }
  size_t found_parts = 0;
  CFILE_RETURN_IF_ERROR(now.ForEachPart([&](const ManifestPart& found) -> absl::StatusOr<bool> {
    const auto position = by_name_.find(found.part->directory);
    if (position == by_name_.end()) {
      if (parts_may_be_added) return true;
      return Aborted("a part has been added");
    }
    ++found_parts;
    const Part& part = parts_[position->second];
    for (size_t i = 0; i < watched_.size(); ++i) {
      if (found.part->columns[watched_[i]].file_name != part.watched[i]) {
        return Aborted("the column has got other values");
      }
    }
    return true;
  }));
  if (found_parts < parts_.size()) return Aborted("a part has been dropped or replaced");
  return absl::OkStatus();
}

absl::Status ColumnChange::CheckFiles(const Manifest& now) const {
  const std::vector<std::string>& condemned = now.root().condemned;
  std::set<std::string> paths(paths_.begin(), paths_.end());
  for (const TablePart& part : added_) paths.insert(part.directory);
  for (const std::string& path : condemned) {
    if (paths.contains(path)) return Aborted("its files have been removed as garbage");
  }
  for (const TablePart& part : added_) {
    paths.erase(part.directory);
    for (size_t i = 0; i < part.columns.size(); ++i) paths.insert(PathInStorage(part, i));
  }
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage_->List(""));
  for (const StorageEntry& file : files) paths.erase(file.path);
  if (paths.empty()) return absl::OkStatus();
  return Aborted(absl::StrCat("the new file ", *paths.begin(), " has been removed"));
}

ReaderOptions ColumnChange::limits() const { return CommitLimits(max_table_file_bytes_); }

}  // namespace cfile::internal
