// Divides a scan among threads.
#include "cfile/table_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cfile/core/read/split_rows.h"
#include "cfile/parts/table/bound_filter.h"
#include "cfile/parts/table/filter_tree.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/scan_source.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::BoundFilter;
using internal::Verdict;

absl::StatusOr<std::vector<OrdinalRange>> TableReader::SplitScan(const TableScanOptions& options,
                                                                 size_t max_ranges) const {
  const Schema& schema = impl_->schema();
  CFILE_ASSIGN_OR_RETURN(const std::vector<size_t> columns,
                         internal::BindColumns(options.columns, schema, directory()));
  CFILE_ASSIGN_OR_RETURN(const BoundFilter filter,
                         internal::BindFilter(options.where, schema, directory()));
  // The rows of the parts that the bounds do not exclude, and how many such rows precede each part.
  std::vector<OrdinalRange> ranges;
  std::vector<uint64_t> before;
  uint64_t num_rows = 0;
  size_t number = 0;
  if (options.range.begin > 0 && options.range.begin < this->num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const internal::ManifestPart part,
                           impl_->PartOfRow(options.range.begin));
    number = part.number;
  }
  while (number < num_parts()) {
    CFILE_ASSIGN_OR_RETURN(
        const size_t next,
        impl_->PassOver(number, false, [&](const auto& bounds_of, const OrdinalRange&) {
          return internal::JudgeBounds(filter, bounds_of).rows.verdict == Verdict::kNone;
        }));
    if (next != number) {
      number = next;
      continue;
    }
    CFILE_ASSIGN_OR_RETURN(const internal::ManifestPart part, impl_->Part(number++));
    const uint64_t first = part.first_ordinal;
    if (first >= options.range.end) break;
    const OrdinalRange rows{std::max(first, options.range.begin),
                            std::min(first + part.part->num_rows, options.range.end)};
    const auto bounds_of = [&](size_t column) { return impl_->Bounds(part, column); };
    if (rows.begin >= rows.end ||
        internal::JudgeBounds(filter, bounds_of).rows.verdict == Verdict::kNone) {
      continue;
    }
    ranges.push_back(rows);
    before.push_back(num_rows);
    num_rows += rows.size();
  }
  const auto range_of = [&](uint64_t row) {
    return static_cast<size_t>(std::upper_bound(before.begin(), before.end(), row) -
                               before.begin() - 1);
  };
  const size_t column = columns.empty() ? 0 : columns[0];
  // Parts that are not longer than a range are not divided, so their files need not be opened.
  const auto is_divided = [&](const OrdinalRange& rows) {
    return rows.size() > num_rows / max_ranges;
  };
  std::vector<uint64_t> divided;
  for (const OrdinalRange& rows : ranges) {
    if (is_divided(rows)) divided.push_back(rows.begin);
  }
  internal::FilesAhead files(*impl_, column, divided);
  size_t entered = ranges.size();
  CFILE_ASSIGN_OR_RETURN(
      std::vector<OrdinalRange> split,
      internal::SplitRows(num_rows, max_ranges, [&](uint64_t row) -> absl::StatusOr<uint64_t> {
        const size_t i = range_of(row);
        if (!is_divided(ranges[i])) return before[i];
        if (std::exchange(entered, i) != i) files.EnterPart();
        const uint64_t ordinal = ranges[i].begin + (row - before[i]);
        CFILE_ASSIGN_OR_RETURN(const internal::ManifestPart part, impl_->PartOfRow(ordinal));
        CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(part, column));
        const uint64_t first = part.first_ordinal;
        CFILE_ASSIGN_OR_RETURN(const uint64_t begin, reader.BlockBegin(ordinal - first));
        const uint64_t in_range = std::max(first + begin, ranges[i].begin);
        return before[i] + (in_range - ranges[i].begin);
      }));
  for (OrdinalRange& rows : split) {
    const size_t first = range_of(rows.begin);
    const size_t last = range_of(rows.end - 1);
    rows = {ranges[first].begin + (rows.begin - before[first]),
            ranges[last].begin + (rows.end - before[last])};
  }
  return split;
}

}  // namespace cfile
