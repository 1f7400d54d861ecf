#include "tools/python/native/column_cursor.h"

#include <optional>
#include <utility>

#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "cfile/table_lookup.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

using cfile::ColumnType;
using cfile::OrdinalRange;

// CursorOf: Cursor<T> or TableCursor<T>.
template <typename T, typename CursorOf>
class TypedCursor final : public ColumnCursor {
 public:
  // `cursor`: an error if rows have no numbers, because of the table's merge rule.
  // `table`: nullopt for a cursor of a file.
  TypedCursor(absl::StatusOr<CursorOf> cursor, ColumnType type, uint64_t num_rows,
              std::optional<cfile::TableReader> table, size_t column)
      : cursor_(std::move(cursor)),
        type_(std::move(type)),
        num_rows_(num_rows),
        column_(column),
        table_(std::move(table)) {}

  nb::tuple Seek(nb::handle key) override {
    Check(cursor_.status());
    const Key<T> sought = KeyOf<T>(key);
    // The call is made also for a key that is too great, so that errors are the same.
    const auto found = WithoutLock([&] { return cursor_->SeekToKey(sought.value); });
    if (sought.beyond > 0) return nb::make_tuple(num_rows_, false);
    return nb::make_tuple(found.ordinal, found.exact && sought.exact);
  }

  std::optional<uint64_t> Newest(nb::handle key) override {
    if (!lookup_ && table_) lookup_ = WithoutLock([&] { return table_->NewLookup({}); });
    if (!lookup_ || lookup_->key_column() != column_) {
      const std::string name = lookup_ ? table_->schema().columns[lookup_->key_column()].name : "";
      throw nb::type_error(
          cfile::StrCat("the newest rows can be found by column ", name, " only").c_str());
    }
    const Key<T> sought = KeyOf<T>(key);
    if (!sought.exact) return std::nullopt;
    const cfile::FoundRow row = WithoutLock([&] { return lookup_->template Get<T>(sought.value); });
    return row.found() ? std::optional(row.ordinal()) : std::nullopt;
  }

  bool InKeyOrder() override {
    Check(cursor_.status());
    return WithoutLock([&]() -> absl::StatusOr<bool> {
      const auto range = cursor_->SeekToKeyRange(std::nullopt, std::nullopt);
      if (absl::IsFailedPrecondition(range.status())) return false;
      if (!range.ok()) return range.status();
      return true;
    });
  }

  nb::object KeyRange(nb::handle low, nb::handle high) override {
    std::optional<T> bounds[2];
    bool empty = false;
    const nb::handle keys[] = {low, high};
    for (int i = 0; i < 2; ++i) {
      if (keys[i].is_none()) continue;
      const Key<T> key = KeyOf<T>(keys[i]);
      const int outside = i == 0 ? 1 : -1;  // no row is beyond this bound
      empty = empty || key.beyond == outside;
      if (key.beyond == 0) bounds[i] = key.value;
    }
    OrdinalRange range{num_rows_, num_rows_};
    std::vector<uint64_t> ordinals;
    WithoutLock([&]() -> absl::Status {
      const auto found = cursor_.ok() ? cursor_->SeekToKeyRange(bounds[0], bounds[1])
                                      : absl::StatusOr<OrdinalRange>(cursor_.status());
      if (found.ok() && !empty) range = *found;
      if (!table_ || !absl::IsFailedPrecondition(found.status())) return found.status();
      auto merged = table_->NewMergeCursor({.key_column = column_});
      if (!merged.ok() || empty) return merged.status();
      const absl::Status status = merged->template SeekToKeyRange<T>(bounds[0], bounds[1]);
      if (!status.ok()) return status;
      for (const auto& batch : merged->Batches()) {
        if (!batch.ok()) return batch.status();
        for (size_t i = 0; i < batch->num_rows(); ++i) ordinals.push_back(batch->ordinal(i));
      }
      return absl::OkStatus();
    });
    if (ordinals.empty()) return nb::make_tuple(range.begin, range.end);
    return nb::bytes(ordinals.data(), ordinals.size() * sizeof(uint64_t));
  }

  nb::list Values(nb::handle rows) override {
    Check(cursor_.status());
    const std::vector<uint64_t> ordinals = OrdinalsOf(rows, num_rows_);
    WithoutLock([&] { return cursor_->Take(ordinals, taken_); });
    nb::list values;
    const cfile::Batch<T> batch = taken_.batch();
    for (size_t i = 0; i < batch.size(); ++i) {
      values.append(batch.IsValid(i) ? ToPython<T>(batch.values[i], type_) : nb::none());
    }
    return values;
  }

 private:
  absl::StatusOr<CursorOf> cursor_;
  const ColumnType type_;
  const uint64_t num_rows_;
  const size_t column_;
  const std::optional<cfile::TableReader> table_;
  std::optional<cfile::TableLookup> lookup_;  // made when it is first used
  cfile::OwnedBatch<T> taken_;
};

}  // namespace

std::unique_ptr<ColumnCursor> NewColumnCursor(const FileOrTable& opened,
                                              const cfile::Schema& schema, size_t column) {
  ColumnType type = ColumnType::Binary();  // of the key index
  if (column < schema.columns.size()) {
    type = schema.columns[column].type;
    if (schema.columns[column].has_levels()) {
      throw nb::type_error(cfile::StrCat("column ", schema.columns[column].name,
                                         " holds nested records, read it as Arrow data")
                               .c_str());
    }
  }
  using Made = std::unique_ptr<ColumnCursor>;
  return cfile::VisitType(type, [&]<typename T>(std::type_identity<T>) -> Made {
    if (const auto* table = std::get_if<cfile::TableReader>(&opened)) {
      auto cursor = table->NewCursor<T>(column);
      if (!table->applies_merge_rule()) Check(cursor.status());
      return std::make_unique<TypedCursor<T, cfile::TableCursor<T>>>(
          std::move(cursor), type, table->num_rows(), *table, column);
    }
    const auto& file = std::get<cfile::Reader>(opened);
    return std::make_unique<TypedCursor<T, cfile::Cursor<T>>>(
        ValueOf(file.NewCursor<T>()), type, file.num_rows(), std::nullopt, column);
  });
}

}  // namespace cfile_python
