// Cursors over the parts of a table.
#include "cfile/table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cfile/parts/table/key_search.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/part_cursor.h"
#include "cfile/parts/table/scan_source.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {

class CFILE_HIDDEN internal::TableValues final : public AnyCursor {
 public:
  TableValues(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : table_(std::move(table)),
        column_(column),
        cursor_(table_, column),
        search_(*table_, column, cursor_) {}

  uint64_t ordinal() const override { return ordinal_; }

  absl::Status SeekToOrdinal(uint64_t ordinal) override {
    CFILE_RETURN_IF_ERROR(cursor_.SeekTo(ordinal));
    MoveTo(ordinal, AllRows());
    return absl::OkStatus();
  }

  absl::Status SeekToRange(const OrdinalRange& range) override {
    CFILE_ASSERT(range.begin <= range.end);
    if (range.end > table_->num_rows()) return cursor_.OutOfRange(range.end);
    CFILE_RETURN_IF_ERROR(cursor_.SeekTo(range.begin));
    MoveTo(range.begin, range);
    return absl::OkStatus();
  }

  absl::StatusOr<AnyBatch> Next(size_t max_rows) override {
    const uint64_t left = range_.end - std::min(ordinal_, range_.end);
    if (left == 0) return AnyBatch{.first_ordinal = ordinal_};
    // At the end of a part, At opens the next part that has rows.
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.At(ordinal_));
    CFILE_ASSIGN_OR_RETURN(AnyBatch batch,
                           cursor->Next(static_cast<size_t>(std::min<uint64_t>(max_rows, left))));
    batch.first_ordinal += cursor_.first_ordinal();
    ordinal_ += batch.size();
    return batch;
  }

  absl::StatusOr<AnyBatch> Previous(size_t max_rows) override {
    CFILE_ASSERT(max_rows > 0);
    if (ordinal_ <= range_.begin) return AnyBatch{.first_ordinal = ordinal_};
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.AtEndOf(ordinal_ - 1));
    const uint64_t rows = std::min<uint64_t>(max_rows, ordinal_ - range_.begin);
    CFILE_ASSIGN_OR_RETURN(AnyBatch batch, cursor->Previous(static_cast<size_t>(rows)));
    batch.first_ordinal += cursor_.first_ordinal();
    ordinal_ = batch.first_ordinal;
    return batch;
  }

  absl::StatusOr<AnyBatch> Get(uint64_t ordinal) override {
    if (ordinal >= table_->num_rows()) return cursor_.OutOfRange(ordinal);
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.EnterPartOf(ordinal));
    CFILE_ASSIGN_OR_RETURN(const AnyBatch value, cursor->Get(ordinal - cursor_.first_ordinal()));
    MoveTo(ordinal + 1, AllRows());
    return value;
  }

  absl::Status Take(std::span<const uint64_t> ordinals, OwnedValues& out) override {
    // By the first row of the part: the part, and the indices in `ordinals` of its rows.
    std::map<uint64_t, std::pair<internal::ManifestPart, std::vector<size_t>>> parts;
    for (size_t i = 0; i < ordinals.size(); ++i) {
      if (ordinals[i] >= table_->num_rows()) return cursor_.OutOfRange(ordinals[i]);
      auto found = parts.upper_bound(ordinals[i]);
      if (found == parts.begin() ||
          ordinals[i] - std::prev(found)->first >= std::prev(found)->second.first.part->num_rows) {
        CFILE_ASSIGN_OR_RETURN(internal::ManifestPart part, table_->PartOfRow(ordinals[i]));
        const uint64_t first_ordinal = part.first_ordinal;
        found = std::next(
            parts.emplace(first_ordinal, std::pair(std::move(part), std::vector<size_t>())).first);
      }
      std::prev(found)->second.second.push_back(i);
    }
    const bool one_part = parts.size() == 1;
    if (!one_part) out.Reset(ordinals.size());
    std::vector<uint64_t> first_rows;
    for (const auto& [first_ordinal, chosen] : parts) first_rows.push_back(first_ordinal);
    internal::FilesAhead files(*table_, column_, first_rows);
    OwnedValues taken(out.lane());
    std::vector<uint64_t> in_part;
    for (const auto& [first_ordinal, chosen] : parts) {
      const auto& [part, indices] = chosen;
      in_part.clear();
      for (const size_t i : indices) in_part.push_back(ordinals[i] - first_ordinal);
      if (!one_part) files.EnterPart();
      CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.Enter(part));
      CFILE_RETURN_IF_ERROR(cursor->Take(in_part, one_part ? out : taken));
      if (one_part) break;
      out.SetEach(taken.batch(), [&rows = indices](size_t i) { return rows[i]; });
    }
    MoveTo(cursor_.row(), AllRows());
    return absl::OkStatus();
  }

  absl::StatusOr<KeyPosition> SeekToKey(const void* key) override {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, search_.Find(key));
    MoveTo(position.ordinal, AllRows());
    return position;
  }

  absl::Status SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) override {
    CFILE_RETURN_IF_ERROR(search_.FindMany(keys, positions));
    MoveTo(cursor_.row(), AllRows());
    return absl::OkStatus();
  }

  absl::StatusOr<OrdinalRange> SeekToKeyRange(const void* low, const void* high) override {
    CFILE_RETURN_IF_ERROR(search_.CheckRangesAreConsecutive());
    OrdinalRange range = AllRows();
    if (high != nullptr) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition end, search_.Find(high));
      range.end = end.ordinal;
    }
    if (low != nullptr) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition begin, search_.Find(low));
      range.begin = std::min(begin.ordinal, range.end);
    } else {
      CFILE_RETURN_IF_ERROR(cursor_.SeekTo(0));
    }
    MoveTo(range.begin, range);
    return range;
  }

  absl::StatusOr<std::unique_ptr<AnyCursor>> Clone() const override {
    auto clone = std::make_unique<TableValues>(table_, column_);
    CFILE_RETURN_IF_ERROR(clone->cursor_.SeekToPlaceOf(cursor_));
    clone->MoveTo(ordinal_, range_);
    return clone;
  }

 private:
  OrdinalRange AllRows() const { return {.begin = 0, .end = table_->num_rows()}; }

  // Call after a successful seek.
  void MoveTo(uint64_t ordinal, const OrdinalRange& range) {
    ordinal_ = ordinal;
    range_ = range;
  }

  const std::shared_ptr<const TableReader::Impl> table_;
  const size_t column_;
  uint64_t ordinal_ = 0;
  OrdinalRange range_ = AllRows();  // Next and Previous stay in it
  // May be at another row than ordinal_, for example after an error.
  PartCursor<ValueCursor, TableReader::Impl> cursor_;
  KeySearch<TableReader::Impl> search_;
};

absl::StatusOr<std::unique_ptr<internal::AnyCursor>> TableReader::NewAnyCursor(
    size_t column, internal::HoldsFunction* holds) const {
  CFILE_RETURN_IF_ERROR(internal::CheckRowNumbers(*impl_, "a TableCursor"));
  CFILE_RETURN_IF_ERROR(impl_->CheckHoldsValues(column, holds));
  return std::make_unique<internal::TableValues>(impl_, column);
}

}  // namespace cfile
