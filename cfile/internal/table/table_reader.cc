#include "cfile/table.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/split_rows.h"
#include "cfile/internal/table/compound_key_check.h"
#include "cfile/internal/table/open_table.h"
#include "encodings/core/status.h"

namespace cfile {
using encodings::DataLoss;
using internal::TablePart;
using internal::TablePartColumn;

TableReader::TableReader(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<TableReader> TableReader::Open(const TableLocation& table,
                                              const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::shared_ptr<const Impl> impl,
                         Impl::Open(table.storage(options.access), options));
  return TableReader(std::move(impl));
}

const std::string& TableReader::directory() const { return impl_->name(); }
const Schema& TableReader::schema() const { return impl_->contents().schema; }
const RecordLimits& TableReader::record_limits() const { return impl_->options().record_limits; }
uint64_t TableReader::num_rows() const { return impl_->num_rows(); }
size_t TableReader::num_parts() const { return impl_->num_parts(); }

PartInfo TableReader::part(size_t part) const {
  assert(part < num_parts());
  const TablePart& contents = impl_->contents().parts[part];
  PartInfo info{.name = contents.directory,
                .first_ordinal = impl_->first_ordinal(part),
                .num_rows = contents.num_rows};
  for (const TablePartColumn& column : contents.columns) info.size_bytes += column.size_bytes;
  return info;
}

BlockStatistics TableReader::part_bounds(size_t part, size_t column) const {
  assert(part < num_parts() && column < impl_->columns().size());
  return impl_->Bounds(part, column);
}

std::string TableReader::part_file(size_t part, size_t column) const {
  assert(part < num_parts() && column < impl_->columns().size());
  return internal::PathInStorage(impl_->contents().parts[part], column);
}

absl::StatusOr<Reader> TableReader::OpenColumn(size_t part, size_t column) const {
  return impl_->OpenColumn(part, column);
}

absl::StatusOr<bool> TableReader::has_value_index(size_t column) const {
  assert(column < impl_->columns().size());
  for (size_t part = num_parts(); part-- > 0;) {
    const TablePartColumn& in_part = impl_->contents().parts[part].columns[column];
    if (in_part.min_key.has_value()) return true;
    if (in_part.num_rows > 0) continue;
    // For a part without values table.cft does not say whether the file has a value index.
    CFILE_ASSIGN_OR_RETURN(const Reader reader, OpenColumn(part, column));
    if (reader.info().value_index_root.has_value()) return true;
  }
  return false;
}

VerifyReport TableReader::VerifyColumn(size_t part, size_t column) const {
  const absl::StatusOr<Reader> reader = OpenColumn(part, column);
  VerifyReport report;
  if (!reader.ok()) {
    report.Add({.status = reader.status()});
    return report;
  }
  report = Verify(*reader);
  // After damage the counts below are incomplete, because unreadable rows were not counted.
  if (!report.ok()) return report;
  const TablePart& in_part = impl_->contents().parts[part];
  const TablePartColumn& expected = in_part.columns[column];
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
  if (column == schema().key_index()) impl_->CompareKeys(part, *reader, report);
  return report;
}

absl::StatusOr<std::vector<OrdinalRange>> TableReader::Split(size_t column,
                                                             size_t max_ranges) const {
  assert(column < impl_->columns().size());
  return internal::SplitRows(
      num_rows(), max_ranges, [&](uint64_t ordinal) -> absl::StatusOr<uint64_t> {
        const size_t part = impl_->PartOf(ordinal);
        CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(part, column));
        const uint64_t first_ordinal = impl_->first_ordinal(part);
        CFILE_ASSIGN_OR_RETURN(const uint64_t begin, reader.BlockBegin(ordinal - first_ordinal));
        return first_ordinal + begin;
      });
}

}  // namespace cfile
