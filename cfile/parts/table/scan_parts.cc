#include "cfile/parts/table/scan_parts.h"

#include <set>
#include <string_view>
#include <utility>

#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The most parts among which OpenAhead searches.
constexpr size_t kMostPartsAhead = 256;

void AddColumns(const BoundFilter& filter, std::set<size_t>& columns) {
  if (filter.kind == Filter::Kind::kColumn) columns.insert(filter.column);
  if (filter.other_column) columns.insert(*filter.other_column);
  for (const BoundFilter& operand : filter.operands) AddColumns(operand, columns);
}

std::vector<size_t> OpenedColumns(const BoundFilter& filter, const std::vector<size_t>& columns,
                                  const std::optional<KeyRange>& keys, const Schema& schema) {
  std::set<size_t> opened(columns.begin(), columns.end());
  AddColumns(filter, opened);
  if (keys) opened.insert(*schema.key_index());
  return {opened.begin(), opened.end()};
}

}  // namespace

ScanParts::ScanParts(const ScanSource& source, const BoundFilter& filter,
                     const std::vector<size_t>& columns, OrdinalRange range, bool reverse,
                     bool reads_all, const std::atomic<bool>* cancelled,
                     std::optional<RowVersions> versions, TableScanCounters& counters)
    : source_(source),
      filter_(filter),
      keys_(KeyRangeOf(filter, source.schema())),
      versions_(std::move(versions)),
      opened_columns_(OpenedColumns(filter, columns, keys_, source.schema())),
      range_(range),
      reverse_(reverse),
      cancelled_(cancelled),
      counters_(counters),
      most_parts_ahead_(std::max<size_t>(
          MaxRangesOfScan(source.options()) / std::max<size_t>(opened_columns_.size(), 1), 1)),
      parts_ahead_(reads_all ? most_parts_ahead_ : 1) {
  // This scan needs only the keys of a range, so it merges these itself, and does not share.
  if (versions_ && keys_ && keys_->high)
    versions_->rows = std::make_shared<NewestRows>(keys_->low, keys_->high);
}

absl::StatusOr<std::optional<ScannedPart>> ScanParts::Next() {
  CFILE_RETURN_IF_ERROR(FindParts());
  while (next_part_ != *stop_part_) {
    const auto excluded = [&](ScanSource::BoundsOfColumn bounds_of, const OrdinalRange& rows) {
      return JudgeRows(bounds_of, rows) == Verdict::kNone;
    };
    CFILE_ASSIGN_OR_RETURN(size_t next, source_.PassOver(next_part_, reverse_, excluded));
    next = reverse_ ? std::max(next, *stop_part_) : std::min(next, *stop_part_);
    if (next != next_part_) {
      counters_.parts_skipped += reverse_ ? next_part_ - next : next - next_part_;
      next_part_ = next;
      continue;
    }
    CFILE_ASSIGN_OR_RETURN(const ManifestPart part,
                           source_.Part(reverse_ ? next_part_ - 1 : next_part_));
    const uint64_t first = part.first_ordinal;
    const uint64_t rows_of_part = part.part->num_rows;
    uint64_t begin = std::max(range_.begin, first);
    uint64_t end = std::min(range_.end, first + rows_of_part);
    Verdict verdict = Verdict::kNone;
    if (begin < end) {
      verdict =
          JudgeRows([&](size_t column) { return source_.Bounds(part, column); }, {begin, end});
      if (verdict == Verdict::kNone) ++counters_.parts_skipped;
    }
    if (verdict != Verdict::kNone) OpenAhead(part);
    uint64_t excluded_by_keys = 0;
    if (verdict == Verdict::kSome && keys_) {
      CFILE_ASSIGN_OR_RETURN(const OrdinalRange rows, RowsOfKeys(part, rows_of_part));
      excluded_by_keys = end - begin;
      begin = std::clamp(rows.begin + first, begin, end);
      end = std::clamp(rows.end + first, begin, end);
      excluded_by_keys -= end - begin;
      if (begin == end) verdict = Verdict::kNone;
      if (begin < end && keys_->exact) verdict = Verdict::kAll;
    }
    RowBits newest;
    if (versions_ && verdict != Verdict::kNone) {
      CFILE_ASSIGN_OR_RETURN(newest,
                             versions_->rows->OfPart(versions_->table, part.number, cancelled_));
    }
    ScannedPart scanned{.part = part, .rows = {begin - first, end - first}, .tree = {}};
    if (verdict == Verdict::kSome) {
      CFILE_ASSIGN_OR_RETURN(scanned.tree,
                             FilterTree::Open(filter_, source_, part, scanned.rows, opened_));
      opened_.clear();
    }
    if (newest != nullptr)
      scanned.tree = FilterTree::OfBits(std::move(newest), std::move(scanned.tree));
    // Nothing fails after this line, so a repeated call does not count these rows again.
    if (keys_) {
      counters_.conditions[keys_->condition].rows_excluded_by_value_index += excluded_by_keys;
    }
    next_part_ += reverse_ ? size_t{0} - 1 : 1;
    if (verdict == Verdict::kNone) continue;
    if (scanned.tree) {
      scanned.tree->VisitConditions(
          [&](size_t, RowFilter& condition) { condition.Expect(scanned.rows, reverse_); });
    }
    return scanned;
  }
  return std::nullopt;
}

absl::Status ScanParts::FindParts() {
  if (stop_part_.has_value()) return absl::OkStatus();
  size_t begin = 0;
  size_t end = range_.begin < range_.end ? source_.num_parts() : 0;
  if (end > 0 && range_.begin > 0) {
    CFILE_ASSIGN_OR_RETURN(const ManifestPart part, source_.PartOfRow(range_.begin));
    begin = part.number;
  }
  if (end > 0 && range_.end < source_.num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const ManifestPart part, source_.PartOfRow(range_.end - 1));
    end = part.number + 1;
  }
  next_part_ = reverse_ ? end : begin;
  stop_part_ = reverse_ ? begin : end;
  return absl::OkStatus();
}

Verdict ScanParts::JudgeRows(ScanSource::BoundsOfColumn bounds_of, const OrdinalRange& rows) {
  const FilterTree::Judgement judgement = JudgeBounds(filter_, bounds_of);
  if (judgement.rows.verdict == Verdict::kNone &&
      judgement.condition < counters_.conditions.size()) {
    const uint64_t begin = std::max(rows.begin, range_.begin);
    const uint64_t end = std::min(rows.end, range_.end);
    counters_.conditions[judgement.condition].rows_excluded_by_bounds += end - begin;
  }
  return judgement.rows.verdict;
}

absl::StatusOr<OrdinalRange> ScanParts::RowsOfKeys(const ManifestPart& part,
                                                   uint64_t num_rows) const {
  const size_t key_index = *source_.schema().key_index();
  const BlockStatistics bounds = source_.Bounds(part, key_index);
  if (bounds.max_key && *bounds.max_key < keys_->low) return OrdinalRange{num_rows, num_rows};
  if (bounds.min_key && keys_->high && *bounds.min_key >= *keys_->high) return OrdinalRange{};
  CFILE_ASSIGN_OR_RETURN(const Reader reader, source_.OpenColumn(part, key_index));
  CFILE_ASSIGN_OR_RETURN(auto cursor, reader.NewCursor<std::string_view>());
  CFILE_ASSIGN_OR_RETURN(const KeyPosition low, cursor.SeekToKey(keys_->low));
  OrdinalRange rows{low.ordinal, num_rows};
  if (keys_->high) {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition high, cursor.SeekToKey(*keys_->high));
    rows.end = std::max(rows.begin, high.ordinal);
  }
  return rows;
}

void ScanParts::OpenAhead(const ManifestPart& part) {
  if (!source_.opens_at_once() || (!reverse_ && part.number < open_next_at_)) return;
  while (!begun_.empty() && (reverse_ || begun_.front().first <= part.number)) begun_.pop_front();
  std::vector<ScanSource::PartColumn> files;
  std::vector<size_t> parts;
  const auto add = [&](const ManifestPart& added) {
    for (const size_t column : opened_columns_) files.push_back({added, column});
    parts.push_back(added.number);
  };
  const bool is_open = !reverse_ && part.number < opened_end_;
  if (!is_open) add(part);
  size_t left = reverse_ ? 0 : parts_ahead_ - parts.size();
  size_t next = is_open ? opened_end_ : part.number + 1;
  const size_t end = reverse_ ? next : std::min(*stop_part_, next + kMostPartsAhead);
  while (left > 0 && next < end) {
    const auto after = source_.PassOver(
        next, /*reverse=*/false, [&](ScanSource::BoundsOfColumn bounds_of, const OrdinalRange&) {
          return IsExcluded(bounds_of);
        });
    if (!after.ok()) break;
    if (*after != next) {
      next = *after;
      continue;
    }
    const auto found = source_.Part(next);
    if (!found.ok()) break;
    ++next;
    if (IsExcluded([&](size_t column) { return source_.Bounds(*found, column); })) continue;
    add(*found);
    --left;
  }
  opened_end_ = next;
  // Further files are opened when the scan comes to the second half of these parts.
  open_next_at_ = parts.empty() ? next : parts[parts.size() / 2];
  if (open_next_at_ <= part.number) open_next_at_ = part.number + 1;
  parts_ahead_ = std::min(4 * parts_ahead_, most_parts_ahead_);
  begun_.emplace_back(next, source_.OpenTogether(files));
}

}  // namespace cfile::internal
