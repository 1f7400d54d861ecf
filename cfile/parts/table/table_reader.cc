#include "cfile/table.h"

#include <utility>

#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/read/split_rows.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/packed/packed_part.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
using encodings::DataLoss;
using internal::ManifestPart;
using internal::TablePart;
using internal::TablePartColumn;

TableReader::TableReader(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<TableReader> TableReader::Open(const TableLocation& table,
                                              const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::shared_ptr<const Impl> impl,
                         Impl::Open(table.storage(options.access), options));
  return TableReader(std::move(impl));
}

absl::StatusOr<TableReader> TableReader::Refresh() const {
  CFILE_ASSIGN_OR_RETURN(std::shared_ptr<const Impl> impl,
                         Impl::Open(impl_->storage(), impl_->options(), impl_));
  return TableReader(std::move(impl));
}

const std::string& TableReader::directory() const { return impl_->name(); }
const Schema& TableReader::schema() const { return impl_->schema(); }
const RecordLimits& TableReader::record_limits() const { return impl_->options().record_limits; }
OldestReader TableReader::oldest_reader() const { return impl_->manifest().root().oldest_reader; }
uint64_t TableReader::num_rows() const { return impl_->num_rows(); }
bool TableReader::applies_merge_rule() const { return impl_->rule() != nullptr; }
TableReader TableReader::StoredRows() const {
  return applies_merge_rule() ? TableReader(impl_->WithStoredRows()) : *this;
}
std::optional<int64_t> TableReader::time_bound() const {
  return impl_->manifest().root().time_bound;
}
size_t TableReader::num_parts() const { return impl_->num_parts(); }
ReaderCounters TableReader::counters() const { return impl_->usage().counters(); }
size_t TableReader::memory_usage_bytes() const { return impl_->usage().memory_bytes(); }

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> TableReader::metadata() const {
  const internal::TableContents& root = impl_->manifest().root();
  if (!root.metadata.empty() || num_parts() == 0) return root.metadata;
  CFILE_ASSIGN_OR_RETURN(const ManifestPart first, impl_->Part(0));
  // Without a file, a default stands for the column.
  CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(first, 0));
  return internal::TablePairs(reader.info());
}

absl::StatusOr<std::string> TableReader::arrow_schema() const {
  if (impl_->manifest().root().metadata.empty()) {
    if (num_parts() == 0) return "";
    CFILE_ASSIGN_OR_RETURN(const ManifestPart first, impl_->Part(0));
    if (!first.part->has_arrow_schema) return "";
  }
  CFILE_ASSIGN_OR_RETURN(const auto pairs, metadata());
  for (const auto& [key, value] : pairs) {
    if (key == internal::kArrowSchema) return value;
  }
  return "";
}

absl::StatusOr<PartInfo> TableReader::part(size_t part) const {
  CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
  PartInfo info{.name = found.part->directory,
                .first_ordinal = found.first_ordinal,
                .num_rows = found.part->num_rows,
                .commit = found.part->order.empty() ? 0 : found.part->order[0]};
  for (const TablePartColumn& column : found.part->columns) info.size_bytes += column.size_bytes;
  return info;
}

absl::StatusOr<BlockStatistics> TableReader::part_bounds(size_t part, size_t column) const {
  CFILE_ASSERT(column < impl_->columns().size());
  CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
  return impl_->Bounds(found, column);
}

absl::StatusOr<std::string> TableReader::part_file(size_t part, size_t column) const {
  CFILE_ASSERT(column < impl_->columns().size());
  CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
  if (found.part->columns[column].missing) return "";
  return internal::NameInStorage(*found.part, column);
}

absl::StatusOr<Reader> TableReader::OpenColumn(size_t part, size_t column) const {
  CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
  return impl_->OpenColumn(found, column);
}

absl::StatusOr<std::shared_ptr<const Source>> TableReader::OpenBytes(size_t part,
                                                                     size_t column) const {
  CFILE_ASSERT(column < impl_->columns().size());
  CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
  return internal::OpenColumnFile(*impl_->storage(), *found.part, column);
}

absl::StatusOr<bool> TableReader::has_value_index(size_t column) const {
  CFILE_ASSERT(column < impl_->columns().size());
  for (size_t part = num_parts(); part-- > 0;) {
    CFILE_ASSIGN_OR_RETURN(const ManifestPart found, impl_->Part(part));
    if (found.part->columns[column].min_key.has_value()) return true;
    if (found.part->num_rows > 0) continue;
    // For a part without values table.cft does not say whether the file has a value index.
    CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(found, column));
    if (reader.info().value_index_root.has_value()) return true;
  }
  return false;
}

VerifyReport TableReader::VerifyColumn(size_t part, size_t column) const {
  VerifyReport report;
  const absl::StatusOr<ManifestPart> found = impl_->Part(part);
  const absl::StatusOr<Reader> reader =
      found.ok() ? impl_->OpenColumn(*found, column) : found.status();
  if (!reader.ok()) {
    report.Add({.status = reader.status()});
    return report;
  }
  report = Verify(*reader);
  // After damage the counts below are incomplete, because unreadable rows were not counted.
  if (!report.ok()) return report;
  const TablePart& in_part = *found->part;
  const TablePartColumn& expected = in_part.columns[column];
  if (expected.missing) return report;
  const std::string path = internal::ColumnFilePath(impl_->name(), in_part, column);
  if (report.null_count != expected.null_count) {
    report.damages.emplace_back().status = DataLoss(
        path, ": ", expected.null_count, " nulls expected by table.cft, found ", report.null_count);
  }
  if (report.min_key.value_or("") != expected.min_key.value_or("") ||
      report.max_key.value_or("") != expected.max_key.value_or("")) {
    report.damages.emplace_back().status =
        DataLoss(path, ": the least and the greatest value are not those in table.cft");
  }
  if (expected.lower_bound || expected.upper_bound) {
    // Verify has compared the file's statistics with its values.
    const auto statistics = reader->Statistics();
    const bool same = statistics.ok() && *statistics != nullptr &&
                      (*statistics)->file.min_key == expected.lower_bound &&
                      (*statistics)->file.max_key == expected.upper_bound &&
                      (*statistics)->file.nan_count == expected.nan_count;
    if (!same) {
      report.damages.emplace_back().status =
          DataLoss(path, ": the bounds are not those in table.cft");
    }
  }
  if (column == schema().key_index()) impl_->CompareKeys(*found, *reader, report);
  return report;
}

VerifyReport TableReader::VerifyCopy(size_t part) const {
  VerifyReport report;
  const absl::StatusOr<ManifestPart> found = impl_->Part(part);
  absl::Status status = found.status();
  if (found.ok() && !found->part->order.empty()) {
    const std::string& folder = found->part->directory;
    // A web server cannot list files.
    const auto files = impl_->storage()->List(folder);
    if (!files.ok() || files->empty()) return report;
    status = internal::ReadCopies(*impl_->storage(), folder, *files, impl_->options()).status();
  }
  if (!status.ok()) report.Add({.status = status});
  return report;
}

absl::StatusOr<std::vector<OrdinalRange>> TableReader::Split(size_t column,
                                                             size_t max_ranges) const {
  CFILE_ASSERT(column < impl_->columns().size());
  CFILE_RETURN_IF_ERROR(internal::CheckRowNumbers(*impl_, "Split"));
  return internal::SplitRows(
      num_rows(), max_ranges, [&](uint64_t ordinal) -> absl::StatusOr<uint64_t> {
        CFILE_ASSIGN_OR_RETURN(const ManifestPart part, impl_->PartOfRow(ordinal));
        CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(part, column));
        const uint64_t first_ordinal = part.first_ordinal;
        CFILE_ASSIGN_OR_RETURN(const uint64_t begin, reader.BlockBegin(ordinal - first_ordinal));
        return first_ordinal + begin;
      });
}

}  // namespace cfile
