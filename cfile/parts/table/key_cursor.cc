#include "cfile/key_cursor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/table/key_search.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/open_table.h"
#include "encodings/core/assert.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Returns the number of values at the front for which `before` is true, at least 1. before(i) is
// for value i. Preconditions: count > 0; `before` is true for the first value, and then up to some
// value. The number of comparisons grows with the logarithm of the result. The result is often
// small.
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

// Table is TableReader::Impl, which is private.
template <typename Table>
class PartMerge final : public KeyMerge {
 public:
  PartMerge(std::shared_ptr<const Table> table, size_t column)
      : table_(std::move(table)),
        column_(column),
        type_(table_->columns()[column].type.physical()),
        lane_(encodings::LaneOf(type_)),
        less_(KeyLessOf(type_)) {}

  // Call first. Reads the bounds of the parts.
  absl::Status Begin() {
    const auto add = [&](const ManifestPart& part) -> absl::StatusOr<bool> {
      if (part.part->num_rows == 0) return true;
      const BlockStatistics bounds = table_->Bounds(part, column_);
      if (!bounds.min_key.has_value() || !bounds.min_exact) {
        return absl::FailedPreconditionError(
            absl::StrCat(table_->name(), ": column ", table_->columns()[column_].name,
                         " cannot be read in key order: part ", part.part->directory,
                         " has no value index of it"));
      }
      OwnedKey least;
      if (!least.Parse(*bounds.min_key, type_)) return WrongBounds(part);
      parts_.push_back({.least = std::move(least), .greatest = *bounds.max_key, .part = part});
      return true;
    };
    CFILE_RETURN_IF_ERROR(table_->manifest().ForEachPart(add));
    std::sort(parts_.begin(), parts_.end(),
              [this](const Part& a, const Part& b) { return Before(HeadOf(a), HeadOf(b)); });
    return absl::OkStatus();
  }

  absl::StatusOr<KeyPosition> SeekToKey(const void* wanted) override {
    // Rows that SeekToKey reads at first: few, because the caller may want only the first row.
    constexpr size_t kFirstRows = 1024;
    CFILE_RETURN_IF_ERROR(CheckKey(table_->name(), {wanted, type_}));
    const void* const key = FirstEqualKey({wanted, type_});
    std::string bytes;
    AppendKey(KeyRef{key, type_}, bytes);
    Merge merge;
    while (merge.opened < parts_.size() && less_(parts_[merge.opened].least.value(), key)) {
      const Part& part = parts_[merge.opened++];
      if (part.greatest >= bytes) CFILE_RETURN_IF_ERROR(Open(part, key, kFirstRows, merge));
    }
    CFILE_RETURN_IF_ERROR(Advance(kFirstRows, merge));
    merge_ = std::move(merge);
    if (merge_.current == nullptr) return KeyPosition{.ordinal = table_->num_rows()};
    // The row is not less than `key`. It is equal if it is not greater than the last equal key.
    const AnyBatch& rows = merge_.current->rows;
    return KeyPosition{.ordinal = rows.first_ordinal,
                       .exact = !less_(LastEqualKey({key, type_}), rows.values)};
  }

  absl::StatusOr<AnyBatch> Next(size_t max_rows) override {
    CFILE_ASSERT(max_rows > 0);
    CFILE_RETURN_IF_ERROR(Advance(max_rows, merge_));
    if (merge_.current == nullptr) return AnyBatch{.first_ordinal = table_->num_rows()};
    AnyBatch& rows = merge_.current->rows;
    AnyBatch run = rows;
    run.count = std::min(max_rows, rows.size());
    // The run ends before the next row of another part.
    std::optional<Head> next;
    if (!merge_.others.empty()) next = HeadOf(*merge_.others.front());
    if (merge_.opened < parts_.size()) {
      const Head unopened = HeadOf(parts_[merge_.opened]);
      if (!next.has_value() || Before(unopened, *next)) next = unopened;
    }
    if (next.has_value()) {
      const uint64_t part = merge_.current->part.number;
      run.count = RunLength(run.count, [&](size_t i) {
        return Before({encodings::ValueAt(run.values, lane_, i), part}, *next);
      });
    }
    rows.values = encodings::ValueAt(rows.values, lane_, run.count);
    rows.count -= run.count;
    rows.first_ordinal += run.count;
    return run;
  }

 private:
  // A part with rows, and its bounds in table.cft.
  struct Part {
    OwnedKey least;
    std::string greatest;  // in memcmp form
    ManifestPart part;
  };

  struct OpenPart {
    ManifestPart part;
    std::unique_ptr<ValueCursor> cursor;
    AnyBatch rows;  // rows that the cursor has read and Next has not returned yet
  };

  struct Merge {
    size_t opened = 0;  // the first parts of parts_ are open, or have ended
    // The part with the next row, if Advance was called after the last row was returned.
    std::unique_ptr<OpenPart> current;
    // The other open parts, each with at least one row. A heap: the first part has the least row.
    std::vector<std::unique_ptr<OpenPart>> others;
  };

  // A value and its part. The order is that of the rows in a KeyCursor, because rows of earlier
  // parts have lower ordinals.
  struct Head {
    const void* value;
    uint64_t part;  // its number
  };
  bool Before(const Head& a, const Head& b) const {
    return less_(a.value, b.value) || (a.part < b.part && !less_(b.value, a.value));
  }
  static Head HeadOf(const Part& part) { return {part.least.value(), part.part.number}; }
  static Head HeadOf(const OpenPart& part) { return {part.rows.values, part.part.number}; }

  // For heaps.
  auto Later() const {
    return [this](const std::unique_ptr<OpenPart>& a, const std::unique_ptr<OpenPart>& b) {
      return Before(HeadOf(*b), HeadOf(*a));
    };
  }

  void Push(std::unique_ptr<OpenPart> part, Merge& merge) const {
    merge.others.push_back(std::move(part));
    std::push_heap(merge.others.begin(), merge.others.end(), Later());
  }

  // Makes `current` the part with the next row; null at the end. Reads rows, at most `max_rows` at
  // a time, where none are left. After an error it may be called again.
  absl::Status Advance(size_t max_rows, Merge& merge) const {
    if (merge.current != nullptr && merge.current->rows.empty()) {
      CFILE_RETURN_IF_ERROR(Read(max_rows, *merge.current));
      if (merge.current->rows.empty()) merge.current.reset();  // the part has ended
    }
    if (merge.current != nullptr) Push(std::move(merge.current), merge);
    while (merge.opened < parts_.size() &&
           (merge.others.empty() ||
            Before(HeadOf(parts_[merge.opened]), HeadOf(*merge.others.front())))) {
      CFILE_RETURN_IF_ERROR(Open(parts_[merge.opened], nullptr, max_rows, merge));
      ++merge.opened;
    }
    if (merge.others.empty()) return absl::OkStatus();
    std::pop_heap(merge.others.begin(), merge.others.end(), Later());
    merge.current = std::move(merge.others.back());
    merge.others.pop_back();
    return absl::OkStatus();
  }

  // Adds a part to `merge`, at the first value that is not less than `key`; null: at the first
  // value.
  absl::Status Open(const Part& part, const void* key, size_t max_rows, Merge& merge) const {
    CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part.part, column_));
    CFILE_ASSIGN_OR_RETURN(auto cursor, NewValueCursor(ReaderAccess::File(reader)));
    if (key != nullptr) CFILE_RETURN_IF_ERROR(cursor->SeekToKey(key).status());
    auto open = std::make_unique<OpenPart>(
        OpenPart{.part = part.part, .cursor = std::move(cursor), .rows = {}});
    CFILE_RETURN_IF_ERROR(Read(max_rows, *open));
    // If the first value were less than the value at which the part was opened, greater values
    // could have been returned already.
    if (open->rows.empty() || less_(open->rows.values, key != nullptr ? key : part.least.value())) {
      return WrongBounds(part.part);
    }
    Push(std::move(open), merge);
    return absl::OkStatus();
  }

  absl::Status Read(size_t max_rows, OpenPart& part) const {
    CFILE_ASSIGN_OR_RETURN(AnyBatch rows, part.cursor->Next(max_rows));
    if (rows.null_count > 0) {
      CFILE_RETURN_IF_ERROR(part.cursor->SeekToOrdinal(rows.first_ordinal));
      return encodings::DataLoss(Path(part.part), ": no nulls expected in a column with a value ",
                                 "index, found ", rows.null_count, " from row ", rows.first_ordinal,
                                 " on");
    }
    rows.first_ordinal += part.part.first_ordinal;
    part.rows = rows;
    return absl::OkStatus();
  }

  std::string Path(const ManifestPart& part) const {
    return ColumnFilePath(table_->name(), *part.part, column_);
  }

  absl::Status WrongBounds(const ManifestPart& part) const {
    return internal::WrongBounds(Path(part));
  }

  const std::shared_ptr<const Table> table_;
  const size_t column_;
  const PhysicalType type_;
  const encodings::Lane lane_;
  const LessFunction less_;
  std::vector<Part> parts_;  // by HeadOf
  Merge merge_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KeyMerge>> KeyMerge::Create(const TableReader& table,
                                                           size_t column) {
  auto merge = std::make_unique<PartMerge<TableReader::Impl>>(table.impl_, column);
  CFILE_RETURN_IF_ERROR(merge->Begin());
  return merge;
}

}  // namespace cfile::internal

namespace cfile {

absl::StatusOr<std::unique_ptr<internal::KeyMerge>> TableReader::NewKeyMerge(
    size_t column, internal::HoldsFunction* holds) const {
  CFILE_RETURN_IF_ERROR(impl_->CheckHoldsValues(column, holds));
  return internal::KeyMerge::Create(*this, column);
}

}  // namespace cfile
