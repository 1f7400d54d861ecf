// Cursors over the parts of a table.
#include "cfile/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/table/open_table.h"
#include "cfile/internal/table/part_cursor.h"
#include "cfile/scan.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile {

using encodings::DataLoss;
using internal::TablePartColumn;

template <typename T>
class TableCursor<T>::Impl {
 public:
  Impl(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : table_(std::move(table)),
        column_(column),
        end_(table_->num_rows()),
        cursor_(table_, column) {}

  uint64_t ordinal() const { return ordinal_; }

  absl::Status Begin() { return cursor_.Begin(); }

  absl::Status SeekToOrdinal(uint64_t ordinal) {
    CFILE_RETURN_IF_ERROR(cursor_.SeekTo(ordinal));
    ordinal_ = ordinal;
    end_ = table_->num_rows();
    return absl::OkStatus();
  }

  absl::Status SeekToRange(const OrdinalRange& range) {
    assert(range.begin <= range.end);
    // If the range ends after the last row, return the error of a seek to this end.
    if (range.end > table_->num_rows()) return SeekToOrdinal(range.end);
    CFILE_RETURN_IF_ERROR(SeekToOrdinal(range.begin));
    end_ = range.end;
    return absl::OkStatus();
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    const uint64_t left = end_ - std::min(ordinal_, end_);
    if (left == 0) return Batch<T>{.first_ordinal = ordinal_};
    // At the end of a part, At opens the next part that has rows.
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.At(ordinal_));
    CFILE_ASSIGN_OR_RETURN(Batch<T> batch,
                           cursor->Next(static_cast<size_t>(std::min<uint64_t>(max_rows, left))));
    batch.first_ordinal += cursor_.first_ordinal();
    ordinal_ += batch.size();
    return batch;
  }

  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    if (ordinal >= table_->num_rows()) {
      return absl::OutOfRangeError(absl::StrCat(table_->directory(), ": row ", ordinal,
                                                ", the table has ", table_->num_rows(), " rows"));
    }
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(table_->PartOf(ordinal)));
    CFILE_ASSIGN_OR_RETURN(std::optional<T> value, cursor->Get(ordinal - cursor_.first_ordinal()));
    ordinal_ = ordinal + 1;
    end_ = table_->num_rows();
    return value;
  }

  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    if (!encodings::IsKey(key)) {
      return absl::InvalidArgumentError(absl::StrCat(table_->directory(), ": NaN cannot be a key"));
    }
    CFILE_RETURN_IF_ERROR(FindKeyedParts());
    std::string wanted;
    internal::AppendKey(key, wanted);
    CFILE_ASSIGN_OR_RETURN(const std::optional<size_t> part,
                           ascending_ ? FirstPartWith(wanted) : BestPart(key, wanted));
    if (!part.has_value()) {
      ordinal_ = end_ = table_->num_rows();
      return KeyPosition{.ordinal = ordinal_};
    }
    KeyPosition position;
    if (PartColumn(*part).min_key.has_value()) {
      CFILE_ASSIGN_OR_RETURN(position, SeekInPart(*part, key));
    } else {
      position = scanned_;
    }
    position.ordinal += table_->first_ordinal(*part);
    ordinal_ = position.ordinal;
    end_ = table_->num_rows();
    return position;
  }

 private:
  const TablePartColumn& PartColumn(size_t part) const {
    return table_->contents().parts[part].columns[column_];
  }

  // Fills keyed_parts_ and ascending_, once.
  absl::Status FindKeyedParts() {
    if (keyed_parts_.has_value()) return absl::OkStatus();
    std::vector<size_t> parts;
    bool any_index = false;
    for (size_t part = 0; part < table_->num_parts(); ++part) {
      const TablePartColumn& column = PartColumn(part);
      if (column.num_rows == 0) continue;
      any_index |= column.min_key.has_value();
      // If ascending_ is still true, all earlier parts have keys.
      ascending_ = ascending_ && column.min_key.has_value() &&
                   (parts.empty() || *PartColumn(parts.back()).max_key <= *column.min_key);
      parts.push_back(part);
    }
    if (!parts.empty() && !any_index) {
      return absl::FailedPreconditionError(
          absl::StrCat(table_->directory(), ": column ", table_->columns()[column_].name,
                       " cannot be searched by key: no part has a value index of it"));
    }
    keyed_parts_ = std::move(parts);
    return absl::OkStatus();
  }

  // If the parts ascend: returns the first part that has a key not less than `wanted`.
  std::optional<size_t> FirstPartWith(const std::string& wanted) const {
    const auto found =
        std::partition_point(keyed_parts_->begin(), keyed_parts_->end(),
                             [&](size_t part) { return *PartColumn(part).max_key < wanted; });
    return found == keyed_parts_->end() ? std::nullopt : std::optional(*found);
  }

  // If the parts do not ascend: returns the part with the smallest key that is not less than
  // `wanted`; if several parts have this key, the first of these parts.
  absl::StatusOr<std::optional<size_t>> BestPart(const T& key, const std::string& wanted) {
    std::optional<size_t> best;
    std::string best_key;
    for (const size_t part : *keyed_parts_) {
      std::optional<std::string> found;
      const TablePartColumn& column = PartColumn(part);
      if (!column.min_key.has_value()) {
        CFILE_ASSIGN_OR_RETURN(found, ScanPart(part, key, best.has_value() ? &best_key : nullptr));
      } else if (*column.max_key < wanted || (best.has_value() && *column.min_key >= best_key)) {
        continue;
      } else if (*column.min_key >= wanted) {
        found = *column.min_key;
      } else {
        CFILE_ASSIGN_OR_RETURN(found, KeyInPart(part, key));
      }
      if (!found.has_value() || (best.has_value() && *found >= best_key)) continue;
      best = part;
      best_key = *std::move(found);
      if (best_key == wanted) break;
    }
    return best;
  }

  // Returns the position of the first value that is not less than `key`, in a part with a value
  // index.
  absl::StatusOr<KeyPosition> SeekInPart(size_t part, const T& key) {
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, cursor->SeekToKey(key));
    if (position.ordinal < PartColumn(part).num_rows) return position;
    return DataLoss(
        internal::ColumnFilePath(table_->directory(), table_->contents().parts[part], column_),
        ": table.cft says that the greatest value is not below the searched key, found only values "
        "below it");
  }

  // Returns the key (memcmp form) of the value that SeekInPart finds.
  absl::StatusOr<std::string> KeyInPart(size_t part, const T& key) {
    CFILE_RETURN_IF_ERROR(SeekInPart(part, key).status());
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor->Next(1));
    std::string found;
    internal::AppendKey(batch.values[0], found);
    return found;
  }

  // Returns the smallest value that is not less than `key`, and less than `*best` if `best` is not
  // null, in a part without a value index. Sets scanned_ to the first row with this value. Reads
  // each block that the statistics of the file do not exclude.
  absl::StatusOr<std::optional<std::string>> ScanPart(size_t part, const T& key,
                                                      const std::string* best) {
    std::optional<std::string> found;
    if constexpr (!std::is_same_v<T, Int96>) {  // int96 has no order
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part, column_));
      CFILE_ASSIGN_OR_RETURN(auto scan, reader.NewScan<T>(Predicate<T>::GreaterOrEqual(key)));
      std::string value;
      while (true) {
        CFILE_ASSIGN_OR_RETURN(const ScanBatch<T> batch, scan.Next());
        if (batch.empty()) break;
        for (size_t i = 0; i < batch.size(); ++i) {
          // The predicate treats -0 as equal to 0, but the key of -0 is less than that of 0.
          if (encodings::KeyLess<T>(batch.values[i], key)) continue;
          value.clear();
          internal::AppendKey(batch.values[i], value);
          if (best != nullptr && value >= *best) continue;
          found = value;
          best = &*found;
          scanned_ = {.ordinal = batch.ordinals[i],
                      .exact = encodings::KeyEqual<T>(key, batch.values[i])};
          if (scanned_.exact) return found;
        }
      }
    }
    return found;
  }

  const std::shared_ptr<const TableReader::Impl> table_;
  const size_t column_;
  uint64_t ordinal_ = 0;
  uint64_t end_;  // Next ends here
  internal::PartCursor<Cursor<T>, TableReader::Impl> cursor_;
  std::optional<std::vector<size_t>> keyed_parts_;  // set by FindKeyedParts: parts with rows
  // True if all parts with rows have a value index and follow each other in key order.
  bool ascending_ = true;
  KeyPosition scanned_;  // the last result of ScanPart
};

template <typename T>
absl::StatusOr<TableCursor<T>> TableReader::NewCursor(size_t column) const {
  assert(column < impl_->columns().size());
  const ColumnSchema& column_schema = impl_->columns()[column];
  if (!HoldsType<T>(column_schema.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(impl_->directory(), ": column ", column_schema.name, " holds ",
                     column_schema.type.ToString(), ", which cannot be read as this C++ type"));
  }
  if (column_schema.has_levels()) {
    return absl::InvalidArgumentError(
        absl::StrCat(impl_->directory(), ": column ", column_schema.name,
                     " has levels, so it cannot be read as one value per row"));
  }
  auto impl = std::make_unique<typename TableCursor<T>::Impl>(impl_, column);
  CFILE_RETURN_IF_ERROR(impl->Begin());
  return TableCursor<T>(std::move(impl));
}

template <typename T>
TableCursor<T>::TableCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
TableCursor<T>::TableCursor(TableCursor&&) noexcept = default;
template <typename T>
TableCursor<T>& TableCursor<T>::operator=(TableCursor&&) noexcept = default;
template <typename T>
TableCursor<T>::~TableCursor() = default;

template <typename T>
absl::Status TableCursor<T>::SeekToOrdinal(uint64_t ordinal) {
  return impl_->SeekToOrdinal(ordinal);
}
template <typename T>
absl::Status TableCursor<T>::SeekToRange(const OrdinalRange& range) {
  return impl_->SeekToRange(range);
}
template <typename T>
absl::StatusOr<Batch<T>> TableCursor<T>::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}
template <typename T>
absl::StatusOr<std::optional<T>> TableCursor<T>::Get(uint64_t ordinal) {
  return impl_->Get(ordinal);
}
template <typename T>
uint64_t TableCursor<T>::ordinal() const {
  return impl_->ordinal();
}
template <typename T>
absl::StatusOr<KeyPosition> TableCursor<T>::SeekToKey(const T& key) {
  return impl_->SeekToKey(key);
}

#define CFILE_INSTANTIATE(T)     \
  template class TableCursor<T>; \
  template absl::StatusOr<TableCursor<T>> TableReader::NewCursor<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
