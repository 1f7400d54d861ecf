#include "cfile/table_lookup.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/parts/table/key_search.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/sort_column.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {

using encodings::ValueAt;
using internal::AnyBatch;
using internal::KeyRef;
using internal::ManifestPart;
using internal::ValueCursor;

class TableLookup::Impl {
 public:
  Impl(std::shared_ptr<const TableReader::Impl> table, size_t key_column,
       std::vector<size_t> columns)
      : table_(std::move(table)),
        key_column_(key_column),
        type_(table_->columns()[key_column].type.physical()),
        lane_(encodings::LaneOf(type_)),
        less_(internal::KeyLessOf(type_)),
        columns_(std::move(columns)) {
    for (const size_t column : columns_) schemas_.push_back(&table_->columns()[column]);
    // The columns of the merge rule follow the caller's.
    if (const internal::AppliedRule* const rule = table_->rule())
      columns_.insert(columns_.end(), rule->columns().begin(), rule->columns().end());
    values_.resize(columns_.size());
    if (key_column_ != table_->schema().key_index()) return;
    key_types_ = table_->schema().key_types();
    has_zeros_ = std::any_of(key_types_.begin(), key_types_.end(), [](const KeyColumn& column) {
      return internal::IsFloatType(column.type.physical());
    });
  }

  // Call first. Reads the bounds of the parts.
  absl::Status Begin() {
    return table_->manifest().ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
      if (part.part->num_rows == 0) return true;
      const internal::TablePartColumn& keys = part.part->columns[key_column_];
      if (!keys.min_key || !keys.max_key) {
        return absl::FailedPreconditionError(absl::StrCat(
            table_->name(), ": keys of column ", table_->columns()[key_column_].name,
            " cannot be looked up: part ", part.part->directory, " has no value index of it"));
      }
      parts_.push_back({.place = part, .least = &*keys.min_key, .greatest = &*keys.max_key});
      return true;
    });
  }

  size_t key_column() const { return key_column_; }
  absl::Status CheckHolds(internal::HoldsFunction* holds) const {
    return table_->CheckHoldsType(key_column_, holds);
  }

  absl::StatusOr<bool> Contains(const void* key) {
    CFILE_ASSIGN_OR_RETURN(const Place found, Find(key));
    if (found.part == nullptr || columns_.size() == schemas_.size()) return found.part != nullptr;
    return Remains(found);
  }

  absl::StatusOr<FoundRow> Get(const void* key) {
    CFILE_ASSIGN_OR_RETURN(const Place found, Find(key));
    if (found.part == nullptr) return FoundRow();
    if (columns_.size() > schemas_.size()) {
      CFILE_ASSIGN_OR_RETURN(const bool remains, Remains(found));
      if (!remains) return FoundRow();
    }
    CFILE_RETURN_IF_ERROR(Read(found, 0, schemas_.size()));
    return FoundRow(found.part->place.first_ordinal + found.row, values_.data(), schemas_);
  }

  absl::Status GetMany(encodings::ValueSpan keys, const Visit& visit) {
    const auto key = [&](size_t i) { return ValueAt(keys.data, lane_, i); };
    for (size_t i = 0; i < keys.count; ++i) CFILE_RETURN_IF_ERROR(CheckKey(key(i)));
    std::vector<size_t> order(keys.count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return less_(key(a), key(b)); });
    for (const size_t i : order) {
      CFILE_ASSIGN_OR_RETURN(const FoundRow row, Get(key(i)));
      visit(i, row);
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kMaxOpenParts = 64;

  struct Part {
    ManifestPart place;
    const std::string* least;  // in `place`, in memcmp form
    const std::string* greatest;
    bool has_filter = true;                                  // as far as is known
    std::shared_ptr<const FileStatistics> filter = nullptr;  // read when it is first needed
    // The cursors of an open part; those of the columns are opened when a row is read.
    std::unique_ptr<ValueCursor> keys = nullptr;
    std::vector<std::unique_ptr<ValueCursor>> columns = {};
    uint64_t last_use = 0;
  };
  // A row of a part. No part: no row.
  struct Place {
    Part* part = nullptr;
    uint64_t row = 0;
  };

  // Sets values_ of the columns from `begin` to `end`.
  absl::Status Read(const Place& place, size_t begin, size_t end) {
    std::vector<std::unique_ptr<ValueCursor>>& cursors = place.part->columns;
    cursors.resize(columns_.size());
    for (size_t i = begin; i < end; ++i) {
      if (cursors[i] == nullptr) {
        CFILE_ASSIGN_OR_RETURN(const Reader file,
                               table_->OpenColumn(place.part->place, columns_[i]));
        CFILE_ASSIGN_OR_RETURN(cursors[i], NewValueCursor(internal::ReaderAccess::File(file)));
      }
      CFILE_ASSIGN_OR_RETURN(values_[i], cursors[i]->Get(place.row));
    }
    return absl::OkStatus();
  }

  // Returns whether the newest row of a key is not gone by the merge rule.
  absl::StatusOr<bool> Remains(const Place& newest) {
    CFILE_RETURN_IF_ERROR(Read(newest, schemas_.size(), columns_.size()));
    return !table_->rule()->IsGone(std::span(values_).subspan(schemas_.size()), 0);
  }

  absl::Status CheckKey(const void* key) const {
    return internal::CheckKey(table_->name(), {key, type_});
  }

  absl::StatusOr<Place> Find(const void* key) {
    CFILE_RETURN_IF_ERROR(CheckKey(key));
    first_.clear();
    last_.clear();
    AppendKey(KeyRef{internal::FirstEqualKey({key, type_}), type_}, first_);
    AppendKey(KeyRef{internal::LastEqualKey({key, type_}), type_}, last_);
    equal_keys_.clear();
    if (has_zeros_) {
      // A compound key with zeros is stored in several forms, the least one first.
      CFILE_RETURN_IF_ERROR(SetEqualKeys(first_));
      if (!equal_keys_.empty()) {
        first_ = equal_keys_.front();
        last_ = equal_keys_.back();
      }
    }
    // The bytes of `key` may lie in a row of an earlier call, whose part the search may close.
    const std::string_view copy = first_;
    if (lane_ == encodings::Lane::kBytes) key = &copy;
    for (size_t i = parts_.size(); i-- > 0;) {
      Part& part = parts_[i];
      if (*part.greatest < first_ || *part.least > last_) continue;
      Place newest;
      const auto search = [&](const void* form) -> absl::Status {
        CFILE_ASSIGN_OR_RETURN(const bool might_contain, MightContain(part, form));
        if (!might_contain) return absl::OkStatus();
        CFILE_RETURN_IF_ERROR(Open(part));
        CFILE_ASSIGN_OR_RETURN(const KeyPosition position, part.keys->SeekToKey(form));
        if (!position.exact) return absl::OkStatus();
        CFILE_ASSIGN_OR_RETURN(const uint64_t row,
                               LastEqualRow(*part.keys, position.ordinal, form));
        newest = {&part, std::max(newest.row, row)};
        return absl::OkStatus();
      };
      if (equal_keys_.empty()) {
        CFILE_RETURN_IF_ERROR(search(key));
      }
      for (const std::string& equal : equal_keys_) {
        const std::string_view form = equal;
        CFILE_RETURN_IF_ERROR(search(&form));
      }
      if (newest.part != nullptr) return newest;
    }
    return Place{};
  }

  // Returns the last row with this key. Precondition: the cursor is at `row`, the first one.
  absl::StatusOr<uint64_t> LastEqualRow(ValueCursor& keys, uint64_t row, const void* key) const {
    const void* const last = internal::LastEqualKey({key, type_});
    for (size_t count = 2;; count = std::min(2 * count, kMaxBatchRows)) {
      CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, keys.Next(count));
      if (batch.empty()) return row;
      for (size_t i = 0; i < batch.size(); ++i) {
        if (less_(last, ValueAt(batch.values, lane_, i))) return row;
        row = batch.first_ordinal + i;
      }
    }
  }

  absl::StatusOr<bool> MightContain(Part& part, const void* key) {
    if (part.has_filter && part.filter == nullptr) {
      CFILE_ASSIGN_OR_RETURN(const Reader keys, table_->OpenColumn(part.place, key_column_));
      part.has_filter = keys.info().bloom_filter.has_value();
      if (part.has_filter) {
        CFILE_ASSIGN_OR_RETURN(part.filter, internal::ReaderAccess::File(keys)->Statistics());
      }
    }
    if (part.filter == nullptr) return true;
    return VisitType(type_, [&]<typename T>(std::type_identity<T>) {
      // For the filter, -0 and 0 are different values.
      const auto passes = [&](const void* equal) {
        return part.filter->MightContain(*static_cast<const T*>(equal));
      };
      const void* const first = internal::FirstEqualKey({key, type_});
      const void* const last = internal::LastEqualKey({key, type_});
      return passes(first) || (last != first && passes(last));
    });
  }

  absl::Status Open(Part& part) {
    part.last_use = ++uses_;
    if (part.keys != nullptr) return absl::OkStatus();
    if (num_open_ >= kMaxOpenParts) {
      Part* oldest = nullptr;
      for (Part& other : parts_) {
        if (other.keys != nullptr && (oldest == nullptr || other.last_use < oldest->last_use))
          oldest = &other;
      }
      oldest->columns.clear();
      oldest->keys.reset();
      --num_open_;
    }
    CFILE_ASSIGN_OR_RETURN(const Reader keys, table_->OpenColumn(part.place, key_column_));
    CFILE_ASSIGN_OR_RETURN(part.keys, NewValueCursor(internal::ReaderAccess::File(keys)));
    ++num_open_;
    return absl::OkStatus();
  }

  // Sets equal_keys_ to the forms of a compound key, in ascending order: a zero of a float column
  // is stored as -0 or as 0. No forms: the key has no zeros, or is no key of the table.
  absl::Status SetEqualKeys(std::string_view key) {
    constexpr size_t kMostForms = 256;
    std::vector<CompoundKey> forms(1, CompoundKey(key_types_));
    CompoundKeyReader reader(key_types_, key);
    for (const KeyColumn& column : key_types_) {
      const absl::Status status =
          VisitType(column.type.physical(), [&]<typename T>(std::type_identity<T>) -> absl::Status {
            CFILE_ASSIGN_OR_RETURN(const auto value, reader.NextOrNull<T>());
            if constexpr (encodings::kIsFloat<T>) {
              if (value && *value == 0 && forms.size() < kMostForms) {
                std::vector<CompoundKey> doubled;
                for (const CompoundKey& form : forms) {
                  doubled.push_back(form);
                  doubled.back().Add(-T{});
                  doubled.push_back(form);
                  doubled.back().Add(T{});
                }
                forms = std::move(doubled);
                return absl::OkStatus();
              }
              if (value && *value == 0) {
                return absl::UnimplementedError(
                    absl::StrCat(table_->name(),
                                 ": a key with more than 8 zeros of floats cannot be looked up"));
              }
            }
            for (CompoundKey& form : forms) value ? form.Add(T(*value)) : form.AddNull();
            return absl::OkStatus();
          });
      if (absl::IsDataLoss(status)) return absl::OkStatus();  // no key of the table
      CFILE_RETURN_IF_ERROR(status);
    }
    if (forms.size() == 1) return absl::OkStatus();
    for (const CompoundKey& form : forms) equal_keys_.emplace_back(form.bytes());
    return absl::OkStatus();
  }

  const std::shared_ptr<const TableReader::Impl> table_;
  const size_t key_column_;
  const encodings::PhysicalType type_;
  const encodings::Lane lane_;
  const internal::LessFunction less_;
  std::vector<size_t> columns_;               // those of the caller, then those of the merge rule
  std::vector<const ColumnSchema*> schemas_;  // of the caller's columns
  std::vector<KeyColumn> key_types_;          // of compound keys
  bool has_zeros_ = false;                    // compound keys may have several equal forms
  std::vector<std::string> equal_keys_;
  std::vector<Part> parts_;  // those with rows
  std::vector<AnyBatch> values_;
  std::string first_, last_;  // the least and the greatest equal key, in memcmp form
  size_t num_open_ = 0;
  uint64_t uses_ = 0;
};

absl::StatusOr<TableLookup> TableReader::NewLookup(std::span<const size_t> columns) const {
  for (const size_t column : columns) {
    CFILE_ASSERT(column < impl_->schema().columns.size());
    CFILE_RETURN_IF_ERROR(impl_->CheckNoLevels(column));
  }
  CFILE_ASSIGN_OR_RETURN(const size_t key_column, internal::KeyColumn(*this));
  auto lookup = std::make_unique<TableLookup::Impl>(
      impl_, key_column, std::vector<size_t>(columns.begin(), columns.end()));
  CFILE_RETURN_IF_ERROR(lookup->Begin());
  return TableLookup(std::move(lookup));
}

TableLookup::TableLookup(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableLookup::TableLookup(TableLookup&&) noexcept = default;
TableLookup& TableLookup::operator=(TableLookup&&) noexcept = default;
TableLookup::~TableLookup() = default;

size_t TableLookup::key_column() const { return impl_->key_column(); }

absl::StatusOr<FoundRow> TableLookup::GetKey(const void* key, internal::HoldsFunction* holds) {
  CFILE_RETURN_IF_ERROR(impl_->CheckHolds(holds));
  return impl_->Get(key);
}

absl::StatusOr<bool> TableLookup::ContainsKey(const void* key, internal::HoldsFunction* holds) {
  CFILE_RETURN_IF_ERROR(impl_->CheckHolds(holds));
  return impl_->Contains(key);
}

absl::Status TableLookup::GetKeys(encodings::ValueSpan keys, internal::HoldsFunction* holds,
                                  const Visit& visit) {
  CFILE_RETURN_IF_ERROR(impl_->CheckHolds(holds));
  return impl_->GetMany(keys, visit);
}

}  // namespace cfile
