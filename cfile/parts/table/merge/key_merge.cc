#include "cfile/parts/table/merge/key_merge.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/statistics.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// If more parts are open, those that the merge does not read are closed.
constexpr size_t kMostIdleParts = 16;

// Returns the number of values at the front for which `before` is true, at least 1. before(i) is
// for value i. The number of comparisons grows with the logarithm of the result, which is often
// small. Preconditions: count > 0; `before` is true for the first value, and then up to some value.
template <typename Before>
size_t RunLength(size_t count, const Before& before) {
  size_t begin = 0;
  size_t end = 1;
  while (end < count && before(end)) {
    begin = end;
    end = std::min(2 * end, count);
  }
  // Value `begin` is before, and value `end`, if there is one, may not be.
  ++begin;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (before(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace

KeyMerge::KeyMerge(const TableReader& table, size_t column, std::vector<bool> chosen)
    : table_(table),
      column_(column),
      chosen_(std::move(chosen)),
      type_(TypeOf(table.schema(), column)),
      lane_(encodings::LaneOf(type_.physical())),
      less_(KeyLessOf(type_.physical())) {}

absl::StatusOr<std::unique_ptr<KeyMerge>> KeyMerge::Create(const TableReader& table, size_t column,
                                                           const std::vector<bool>& chosen) {
  std::unique_ptr<KeyMerge> merge(new KeyMerge(table, column, chosen));
  const size_t end = chosen.empty() ? table.num_parts() : chosen.size();
  for (size_t i = 0; i < std::min(end, table.num_parts()); ++i) {
    if (!chosen.empty() && !chosen[i]) continue;
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(i));
    if (info.num_rows == 0) continue;
    CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, table.part_bounds(i, column));
    if (!bounds.min_key || !bounds.min_exact || !bounds.max_key) {
      const std::vector<ColumnSchema>& columns = table.schema().columns;
      return absl::FailedPreconditionError(absl::StrCat(
          table.directory(), ": column ",
          column < columns.size() ? columns[column].name : "of compound keys",
          " cannot be read in key order: part ", info.name, " has no value index of it"));
    }
    Part part{.number = i, .first_ordinal = info.first_ordinal, .num_rows = info.num_rows};
    if (!part.least.Parse(*bounds.min_key, merge->type_.physical()) ||
        !part.greatest.Parse(*bounds.max_key, merge->type_.physical()))
      return merge->WrongBounds(part);
    merge->parts_.push_back(std::move(part));
  }
  for (Part& part : merge->parts_) merge->order_.push_back({part.least.value(), &part});
  std::sort(merge->order_.begin(), merge->order_.end(),
            [&](const Head& a, const Head& b) { return merge->Before(a, b); });
  return merge;
}

absl::StatusOr<std::unique_ptr<KeyMerge>> KeyMerge::Clone() const {
  CFILE_ASSIGN_OR_RETURN(auto clone, Create(table_, column_, chosen_));
  for (size_t i = 0; i < parts_.size(); ++i) {
    clone->parts_[i].row = parts_[i].row;
    if (parts_[i].keys == nullptr) continue;
    CFILE_ASSIGN_OR_RETURN(clone->parts_[i].keys, parts_[i].keys->Clone());
    ++clone->num_open_;
  }
  clone->low_ = low_;
  clone->high_ = high_;
  return clone;
}

absl::StatusOr<bool> KeyMerge::SeekToKey(const void* key) {
  // The bytes of `key` may be those of a row that was read before. The search may overwrite them.
  sought_.Set({FirstEqualKey({key, type_.physical()}), type_.physical()});
  const void* to = sought_.value();
  if (low_ && less_(to, low_->value())) to = low_->value();
  if (high_ && !less_(to, high_->value())) to = high_->value();
  CFILE_ASSIGN_OR_RETURN(const bool exact, GoTo(to));
  return exact && to == sought_.value();
}

absl::Status KeyMerge::SeekToKeyRange(const void* low, const void* high) {
  const auto owned = [this](const void* key) {
    if (key == nullptr) return std::shared_ptr<OwnedKey>();
    auto copy = std::make_shared<OwnedKey>();
    copy->Set({FirstEqualKey({key, type_.physical()}), type_.physical()});
    return copy;
  };
  const std::shared_ptr<const OwnedKey> new_low = owned(low);
  const std::shared_ptr<const OwnedKey> new_high = owned(high);
  CFILE_RETURN_IF_ERROR(GoTo(new_low ? new_low->value() : nullptr).status());
  low_ = new_low;
  high_ = new_high;
  return absl::OkStatus();
}

absl::Status KeyMerge::SeekToEnd() {
  if (high_) return GoTo(high_->value()).status();
  has_heads_ = false;
  for (Part& part : parts_) part.row = part.num_rows;
  return absl::OkStatus();
}

absl::StatusOr<bool> KeyMerge::GoTo(const void* key) {
  rows_before_.clear();
  for (const Part& part : parts_) rows_before_.push_back(part.row);
  has_heads_ = false;
  bool exact = false;
  for (Part& part : parts_) {
    if (key == nullptr) {
      part.row = 0;
      continue;
    }
    const absl::StatusOr<bool> found = GoInPart(key, part);
    if (!found.ok()) {
      for (size_t i = 0; i < parts_.size(); ++i) parts_[i].row = rows_before_[i];
      return found;
    }
    exact = exact || *found;
  }
  CloseSome();
  return exact;
}

absl::StatusOr<bool> KeyMerge::GoInPart(const void* key, Part& part) {
  if (!less_(part.least.value(), key)) {
    part.row = 0;
    return !less_(LastEqualKey({key, type_.physical()}), part.least.value());
  }
  if (less_(part.greatest.value(), key)) {
    part.row = part.num_rows;
    return false;
  }
  CFILE_RETURN_IF_ERROR(Open(part));
  part.window = {};
  CFILE_ASSIGN_OR_RETURN(const KeyPosition found, part.keys->SeekToKey(key));
  if (found.ordinal == 0 || found.ordinal >= part.num_rows) return WrongBounds(part);
  part.row = found.ordinal;
  return found.exact;
}

const void* KeyMerge::HeadKey(const Part& part) const {
  if (InWindow(part)) return KeyAt(part, HeadRow(part));
  if (forward_) return part.row == 0 ? part.least.value() : nullptr;
  return part.row == part.num_rows ? part.greatest.value() : nullptr;
}

void KeyMerge::Insert(Part& part) {
  const Head head{HeadKey(part), &part};
  // It is often the next one.
  const bool is_next = heads_.empty() || Before(head, heads_.back());
  const auto place =
      is_next ? heads_.end()
              : std::partition_point(heads_.begin(), heads_.end(),
                                     [&](const Head& other) { return Before(head, other); });
  heads_.insert(place, head);
}

absl::Status KeyMerge::Begin(bool forward, size_t max_rows) {
  if (has_heads_ && forward == forward_) return absl::OkStatus();
  forward_ = forward;
  has_heads_ = false;
  heads_.clear();
  unread_ = nullptr;
  for (size_t i = 0; i < order_.size(); ++i) {
    Part& part = *order_[forward ? order_.size() - 1 - i : i].part;
    if (!HasRow(part)) continue;
    if (HeadKey(part) == nullptr) CFILE_RETURN_IF_ERROR(Fill(max_rows, part));
    Insert(part);
  }
  has_heads_ = true;
  return absl::OkStatus();
}

absl::Status KeyMerge::Merge(bool forward, size_t max_rows, Rows& rows) {
  CFILE_ASSERT(max_rows > 0);
  max_rows = std::min(max_rows, kMaxBatchRows);
  rows.runs.clear();
  rows.keys = {};
  CloseSome();
  CFILE_RETURN_IF_ERROR(Begin(forward, max_rows));
  if (unread_ != nullptr) {
    CFILE_RETURN_IF_ERROR(Fill(max_rows, *unread_));
    Insert(*std::exchange(unread_, nullptr));
  }
  const size_t width = encodings::WidthOf(lane_);
  if (keys_.size() < max_rows * width) keys_.resize(max_rows * width);
  size_t done = 0;
  while (done < max_rows && !heads_.empty() && !IsBeyond(heads_.back().key)) {
    Part& part = *heads_.back().part;
    if (!InWindow(part)) {
      const absl::Status status = Fill(max_rows, part);
      if (!status.ok() && done > 0) break;  // the next call returns the error
      CFILE_RETURN_IF_ERROR(status);
      heads_.pop_back();
      Insert(part);
      continue;
    }
    heads_.pop_back();
    const uint64_t row = HeadRow(part);
    const uint64_t first = part.window.first_ordinal;
    const auto key_at = [&](size_t i) { return KeyAt(part, forward ? row + i : row - i); };
    auto count = static_cast<size_t>(std::min<uint64_t>(
        max_rows - done, forward ? first + part.window.count - row : row - first + 1));
    if (!heads_.empty()) {
      count = RunLength(count, [&](size_t i) { return Before({key_at(i), &part}, heads_.back()); });
    }
    if (IsBeyond(key_at(count - 1)))
      count = RunLength(count, [&](size_t i) { return !IsBeyond(key_at(i)); });
    const Run run{part.number, forward ? row : row - count + 1, count};
    part.row = forward ? row + count : run.begin;
    const size_t place = forward ? done : max_rows - done - count;
    rows.runs.push_back(run);
    std::memcpy(keys_.data() + place * width, KeyAt(part, run.begin), count * width);
    rows.keys.values = keys_.data() + (forward ? 0 : place * width);
    done += count;
    rows.keys.count = done;
    if (HasRow(part)) {
      if (!InWindow(part)) {
        // The keys of the rows so far may be in the window, so it stays until the next call.
        unread_ = &part;
        break;
      }
      Insert(part);
    }
  }
  if (!forward) std::reverse(rows.runs.begin(), rows.runs.end());
  return absl::OkStatus();
}

absl::StatusOr<bool> KeyMerge::RestOfParts(std::vector<Run>& runs) {
  std::vector<Run> rest;
  Part* previous = nullptr;
  for (const Head& head : order_) {
    Part& part = *head.part;
    if (part.row == part.num_rows) continue;
    if (previous != nullptr && !Before({previous->greatest.value(), previous}, head)) return false;
    previous = &part;
    CFILE_RETURN_IF_ERROR(Open(part));
    if (!part.keys->file().info().positional_index_root) return false;
    part.window = {};
    for (const uint64_t row : {uint64_t{0}, part.num_rows - 1}) {
      CFILE_ASSIGN_OR_RETURN(const AnyBatch key, part.keys->Get(row));
      if (!key.IsValid(0) || !HaveBounds(key, part)) return WrongBounds(part);
    }
    rest.push_back({part.number, part.row, part.num_rows - part.row});
    CloseSome();
  }
  runs = std::move(rest);
  return true;
}

void KeyMerge::Keep(size_t count, Rows& rows) {
  const size_t all = rows.keys.count;
  if (count == all) return;
  std::vector<Run>& runs = rows.runs;
  size_t emptied = 0;  // runs
  for (size_t left = all - count; left > 0;) {
    Run& run = forward_ ? runs[runs.size() - 1 - emptied] : runs[emptied];
    const uint64_t back = std::min<uint64_t>(left, run.count);
    Part& part = PartOf(run.part);
    part.row = forward_ ? part.row - back : part.row + back;
    if (!forward_) run.begin += back;
    run.count -= back;
    left -= static_cast<size_t>(back);
    emptied += run.count == 0;
  }
  const auto end = static_cast<ptrdiff_t>(emptied);
  forward_ ? runs.erase(runs.end() - end, runs.end())
           : runs.erase(runs.begin(), runs.begin() + end);
  rows.keys.count = count;
  if (!forward_) rows.keys.values = encodings::ValueAt(rows.keys.values, lane_, all - count);
  has_heads_ = false;
}

KeyMerge::Part& KeyMerge::PartOf(size_t number) {
  return *std::partition_point(parts_.begin(), parts_.end(),
                               [&](const Part& part) { return part.number < number; });
}

absl::Status KeyMerge::Open(Part& part) {
  if (part.keys != nullptr) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part.number, column_));
  CFILE_ASSIGN_OR_RETURN(part.keys, NewValueCursor(ReaderAccess::File(reader)));
  ++num_open_;
  return absl::OkStatus();
}

void KeyMerge::CloseSome() {
  if (num_open_ <= kMostIdleParts) return;
  for (Part& part : parts_) {
    const bool is_idle = has_heads_ ? !HasRow(part) : part.row == 0 || part.row == part.num_rows;
    if (part.keys == nullptr || !is_idle) continue;
    part.keys.reset();
    part.window = {};
    part.readers.clear();
    --num_open_;
  }
}

// Moves the cursor of a part to part.row.
absl::Status KeyMerge::GoToRow(Part& part) {
  ValueCursor& keys = *part.keys;
  if (keys.ordinal() == part.row) return absl::OkStatus();
  const absl::Status status = keys.SeekToOrdinal(part.row);
  if (!absl::IsFailedPrecondition(status)) return status;
  // The file has no positional index, and the row is not in the current block.
  if (keys.ordinal() > part.row) CFILE_RETURN_IF_ERROR(keys.SeekToOrdinal(0));
  while (keys.ordinal() < part.row) {
    CFILE_RETURN_IF_ERROR(keys.Next(part.row - keys.ordinal()).status());
  }
  return absl::OkStatus();
}

absl::Status KeyMerge::Fill(size_t max_rows, Part& part) {
  CFILE_RETURN_IF_ERROR(Open(part));
  part.window = {};
  CFILE_RETURN_IF_ERROR(GoToRow(part));
  CFILE_ASSIGN_OR_RETURN(const AnyBatch rows,
                         forward_ ? part.keys->Next(max_rows) : part.keys->Previous(max_rows));
  if (rows.null_count > 0) {
    return encodings::DataLoss(part.keys->file().source().name(),
                               ": no nulls expected in a column with a value index, found ",
                               rows.null_count, " from row ", rows.first_ordinal, " on");
  }
  if (rows.empty() || !HaveBounds(rows, part)) return WrongBounds(part);
  part.window = rows;
  return absl::OkStatus();
}

bool KeyMerge::HaveBounds(const AnyBatch& rows, const Part& part) const {
  // -0.0 and 0.0 are equal (part_bounds.h)
  const void* const first = FirstEqualKey({rows.values, type_.physical()});
  const void* const last =
      LastEqualKey({encodings::ValueAt(rows.values, lane_, rows.count - 1), type_.physical()});
  if (less_(first, part.least.value()) || less_(part.greatest.value(), last)) return false;
  const uint64_t end = rows.first_ordinal + rows.count;
  return (rows.first_ordinal > 0 || !less_(part.least.value(), first)) &&
         (end < part.num_rows || !less_(last, part.greatest.value()));
}

absl::Status KeyMerge::WrongBounds(const Part& part) const {
  CFILE_ASSIGN_OR_RETURN(const std::string file, table_.part_file(part.number, column_));
  return internal::WrongBounds(absl::StrCat(table_.directory(), "/", file));
}

}  // namespace cfile::internal
