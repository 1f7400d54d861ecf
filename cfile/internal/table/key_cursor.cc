#include "cfile/key_cursor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/manifest/part_bounds.h"
#include "cfile/internal/table/key_search.h"
#include "cfile/internal/table/open_table.h"
#include "encodings/core/assert.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::KeyLess;
using internal::ManifestPart;

// A value and its part. The order is that of the rows in a KeyCursor, because rows of earlier parts
// have lower ordinals.
template <typename T>
struct Head {
  T value;
  uint64_t part;  // its number
};
template <typename T>
bool operator<(const Head<T>& a, const Head<T>& b) {
  if (KeyLess<T>(a.value, b.value)) return true;
  return a.part < b.part && !KeyLess<T>(b.value, a.value);
}

// Returns the number of values at the front for which `before` is true, at least 1.
// Precondition: `before` is true for the first value.
// The number of comparisons grows with the logarithm of the result. The result is often small.
template <typename T, typename Before>
size_t RunLength(std::span<const T> values, const Before& before) {
  size_t begin = 0;
  size_t end = 1;
  while (end < values.size() && before(values[end])) {
    begin = end;
    end = std::min(2 * end, values.size());
  }
  const auto found = std::partition_point(values.begin() + static_cast<ptrdiff_t>(begin) + 1,
                                          values.begin() + static_cast<ptrdiff_t>(end), before);
  return static_cast<size_t>(found - values.begin());
}

}  // namespace

template <typename T>
class KeyCursor<T>::Impl {
 public:
  Impl(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : table_(std::move(table)), column_(column) {}

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
      auto least = bounds.Min<T>();
      if (!least.has_value()) return WrongBounds(part);
      parts_.push_back({.least = *std::move(least), .greatest = *bounds.max_key, .part = part});
      return true;
    };
    CFILE_RETURN_IF_ERROR(table_->manifest().ForEachPart(add));
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return HeadOf(a) < HeadOf(b); });
    return absl::OkStatus();
  }

  absl::StatusOr<KeyPosition> SeekToKey(const T& wanted) {
    // Rows that SeekToKey reads at first: few, because the caller may want only the first row.
    constexpr size_t kFirstRows = 1024;
    CFILE_RETURN_IF_ERROR(internal::CheckKey(table_->name(), wanted));
    const T key = encodings::FirstEqualKey(wanted);
    std::string bytes;
    internal::AppendKey(key, bytes);
    Merge merge;
    while (merge.opened < parts_.size() && KeyLess<T>(T(parts_[merge.opened].least), key)) {
      const Part& part = parts_[merge.opened++];
      if (part.greatest >= bytes) CFILE_RETURN_IF_ERROR(Open(part, &key, kFirstRows, merge));
    }
    CFILE_RETURN_IF_ERROR(Advance(kFirstRows, merge));
    merge_ = std::move(merge);
    if (merge_.current == nullptr) return KeyPosition{.ordinal = table_->num_rows()};
    const Batch<T>& rows = merge_.current->rows;
    return KeyPosition{.ordinal = rows.first_ordinal, .exact = rows.values[0] == key};
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    CFILE_ASSERT(max_rows > 0);
    CFILE_RETURN_IF_ERROR(Advance(max_rows, merge_));
    if (merge_.current == nullptr) return Batch<T>{.first_ordinal = table_->num_rows()};
    Batch<T>& rows = merge_.current->rows;
    Batch<T> run = rows;
    run.values = run.values.first(std::min(max_rows, rows.size()));
    // The run ends before the next row of another part.
    std::optional<Head<T>> next;
    if (!merge_.others.empty()) next = HeadOf(*merge_.others.front());
    if (merge_.opened < parts_.size()) {
      const Head<T> unopened = HeadOf(parts_[merge_.opened]);
      if (!next.has_value() || unopened < *next) next = unopened;
    }
    if (next.has_value()) {
      const uint64_t part = merge_.current->part.number;
      run.values = run.values.first(RunLength(run.values, [&](const T& value) {
        return Head<T>{value, part} < *next;
      }));
    }
    rows.values = rows.values.subspan(run.size());
    rows.first_ordinal += run.size();
    return run;
  }

 private:
  // A part with rows, and its bounds in table.cft.
  struct Part {
    Owned<T> least;
    std::string greatest;  // in memcmp form
    ManifestPart part;
  };

  struct OpenPart {
    ManifestPart part;
    Cursor<T> cursor;
    Batch<T> rows;  // rows that the cursor has read and Next has not returned yet
  };

  struct Merge {
    size_t opened = 0;  // the first parts of parts_ are open, or have ended
    // The part with the next row, if Advance was called after the last row was returned.
    std::unique_ptr<OpenPart> current;
    // The other open parts, each with at least one row. A heap: the first part has the least row.
    std::vector<std::unique_ptr<OpenPart>> others;
  };

  static Head<T> HeadOf(const Part& part) { return {T(part.least), part.part.number}; }
  static Head<T> HeadOf(const OpenPart& part) { return {part.rows.values[0], part.part.number}; }
  static bool Later(const std::unique_ptr<OpenPart>& a, const std::unique_ptr<OpenPart>& b) {
    return HeadOf(*b) < HeadOf(*a);
  }

  static void Push(std::unique_ptr<OpenPart> part, Merge& merge) {
    merge.others.push_back(std::move(part));
    std::push_heap(merge.others.begin(), merge.others.end(), Later);
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
           (merge.others.empty() || HeadOf(parts_[merge.opened]) < HeadOf(*merge.others.front()))) {
      CFILE_RETURN_IF_ERROR(Open(parts_[merge.opened], nullptr, max_rows, merge));
      ++merge.opened;
    }
    if (merge.others.empty()) return absl::OkStatus();
    std::pop_heap(merge.others.begin(), merge.others.end(), Later);
    merge.current = std::move(merge.others.back());
    merge.others.pop_back();
    return absl::OkStatus();
  }

  // Adds a part to `merge`, at the first value that is not less than `*key`; null: at the first
  // value.
  absl::Status Open(const Part& part, const T* key, size_t max_rows, Merge& merge) const {
    CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part.part, column_));
    CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.NewCursor<T>());
    if (key != nullptr) CFILE_RETURN_IF_ERROR(cursor.SeekToKey(*key).status());
    auto open = std::make_unique<OpenPart>(
        OpenPart{.part = part.part, .cursor = std::move(cursor), .rows = {}});
    CFILE_RETURN_IF_ERROR(Read(max_rows, *open));
    // If the first value were less than the value at which the part was opened, greater values
    // could have been returned already.
    if (open->rows.empty() ||
        KeyLess<T>(open->rows.values[0], key != nullptr ? *key : T(part.least))) {
      return WrongBounds(part.part);
    }
    Push(std::move(open), merge);
    return absl::OkStatus();
  }

  absl::Status Read(size_t max_rows, OpenPart& part) const {
    CFILE_ASSIGN_OR_RETURN(Batch<T> rows, part.cursor.Next(max_rows));
    if (rows.null_count > 0) {
      CFILE_RETURN_IF_ERROR(part.cursor.SeekToOrdinal(rows.first_ordinal));
      return encodings::DataLoss(Path(part.part), ": no nulls expected in a column with a value ",
                                 "index, found ", rows.null_count, " from row ", rows.first_ordinal,
                                 " on");
    }
    rows.first_ordinal += part.part.first_ordinal;
    part.rows = rows;
    return absl::OkStatus();
  }

  std::string Path(const ManifestPart& part) const {
    return internal::ColumnFilePath(table_->name(), *part.part, column_);
  }

  absl::Status WrongBounds(const ManifestPart& part) const {
    return internal::WrongBounds(Path(part));
  }

  const std::shared_ptr<const TableReader::Impl> table_;
  const size_t column_;
  std::vector<Part> parts_;  // by HeadOf
  Merge merge_;
};

template <typename T>
absl::StatusOr<KeyCursor<T>> TableReader::NewKeyCursor(size_t column) const {
  CFILE_ASSERT(column < impl_->columns().size());
  CFILE_RETURN_IF_ERROR(impl_->CheckHoldsValues<T>(column));
  auto impl = std::make_unique<typename KeyCursor<T>::Impl>(impl_, column);
  CFILE_RETURN_IF_ERROR(impl->Begin());
  return KeyCursor<T>(std::move(impl));
}

template <typename T>
KeyCursor<T>::KeyCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
KeyCursor<T>::KeyCursor(KeyCursor&&) noexcept = default;
template <typename T>
KeyCursor<T>& KeyCursor<T>::operator=(KeyCursor&&) noexcept = default;
template <typename T>
KeyCursor<T>::~KeyCursor() = default;
template <typename T>
absl::StatusOr<KeyPosition> KeyCursor<T>::SeekToKey(const T& key) {
  return impl_->SeekToKey(key);
}
template <typename T>
absl::StatusOr<Batch<T>> KeyCursor<T>::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}

#define CFILE_INSTANTIATE(T)   \
  template class KeyCursor<T>; \
  template absl::StatusOr<KeyCursor<T>> TableReader::NewKeyCursor<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
