#include "cfile/merge_cursor.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/key_search.h"
#include "cfile/parts/table/merge/applied_rule.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/merged_column.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/sort_column.h"
#include "cfile/table_lookup.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::AnyBatch;
using internal::AppliedRule;
using internal::KeyMerge;
using internal::MergedColumn;

class MergeCursor::Impl {
 public:
  // `rule`: the merge rule of the table; null: the cursor returns all rows. `lookup`: of no column;
  // nullopt without a rule.
  Impl(TableReader table, size_t key_column, std::vector<size_t> columns,
       std::unique_ptr<KeyMerge> merge, const AppliedRule* rule, std::optional<TableLookup> lookup)
      : table_(std::move(table)),
        key_column_(key_column),
        columns_(std::move(columns)),
        num_values_(columns_.size()),
        merge_(std::move(merge)),
        rule_(rule),
        lookup_(std::move(lookup)) {
    if (rule_ != nullptr)
      columns_.insert(columns_.end(), rule_->columns().begin(), rule_->columns().end());
    const std::vector<ColumnSchema>& schemas = table_.schema().columns;
    for (const size_t column : columns_) {
      schemas_.push_back(column < schemas.size()
                             ? schemas[column]
                             : ColumnSchema{.name = "", .type = merge_->type()});
      merged_.emplace_back(encodings::LaneOf(schemas_.back().type.physical()));
    }
    values_.resize(columns_.size());
  }

  size_t key_column() const { return key_column_; }
  KeyMerge& merge() { return *merge_; }

  // kInvalidArgument: the keys have another C++ type, or `key` is NaN. `key` may be null.
  absl::Status CheckKey(const void* key, internal::HoldsFunction* holds) const {
    if (!holds(merge_->type())) {
      return absl::InvalidArgumentError(absl::StrCat(table_.directory(), ": the keys are ",
                                                     merge_->type().ToString(),
                                                     ", not values of this C++ type"));
    }
    if (key == nullptr) return absl::OkStatus();
    return internal::CheckKey(table_.directory(), {key, merge_->type().physical()});
  }

  absl::StatusOr<bool> SeekToKey(const void* key) {
    CFILE_ASSIGN_OR_RETURN(const bool exact, merge_->SeekToKey(key));
    if (!exact || rule_ == nullptr) return exact;
    return lookup_->Contains(*static_cast<const std::string_view*>(key));
  }

  absl::StatusOr<MergeBatch> Read(bool forward, size_t max_rows) {
    do {
      CFILE_RETURN_IF_ERROR(forward ? merge_->Next(max_rows, rows_)
                                    : merge_->Previous(max_rows, rows_));
      if (rows_.keys.empty()) return MergeBatch();
      const absl::Status status = ChooseAndRead(/*last=*/!forward);
      if (!status.ok()) merge_->Keep(0, rows_);
      CFILE_RETURN_IF_ERROR(status);
    } while (ordinals_.empty());
    return MergeBatch(ordinals_, values_.data(), {schemas_.data(), num_values_});
  }

  absl::StatusOr<std::unique_ptr<Impl>> Clone() const {
    CFILE_ASSIGN_OR_RETURN(auto merge, merge_->Clone());
    std::optional<TableLookup> lookup;
    if (lookup_) {
      CFILE_ASSIGN_OR_RETURN(lookup, table_.NewLookup({}));
    }
    return std::make_unique<Impl>(
        table_, key_column_, std::vector<size_t>(columns_.begin(), columns_.begin() + num_values_),
        std::move(merge), rule_, std::move(lookup));
  }

 private:
  // Sets ordinals_ and values_ for rows of rows_: for as many as one batch of each file has, the
  // first ones, or if `last`, the last ones. Reduces rows_ to them.
  absl::Status ChooseAndRead(bool last) {
    chosen_.clear();
    if (rule_ == nullptr) return ReadColumns(0, num_values_, last);
    CFILE_RETURN_IF_ERROR(ChooseNewest());
    if (chosen_.empty() || rule_->columns().empty()) return ReadColumns(0, num_values_, last);
    CFILE_RETURN_IF_ERROR(ReadColumns(num_values_, columns_.size(), last));
    const std::span<const AnyBatch> values(values_.data() + num_values_,
                                           values_.size() - num_values_);
    size_t remaining = 0;
    for (size_t i = 0; i < chosen_.size(); ++i) {
      if (!rule_->IsGone(values, i)) chosen_[remaining++] = chosen_[i];
    }
    chosen_.resize(remaining);
    return ReadColumns(0, num_values_, last);
  }

  // Under a merge rule: sets chosen_ to the rows of rows_ that are the newest of their keys.
  absl::Status ChooseNewest() {
    const auto* const keys = static_cast<const std::string_view*>(rows_.keys.values);
    const size_t count = rows_.keys.size();
    for (size_t run = 0, row = 0; run < rows_.runs.size(); ++run) {
      for (uint64_t i = 0; i < rows_.runs[run].count; ++i, ++row) {
        // Rows with equal keys are neighbours, the newest last.
        if (row + 1 < count && keys[row] == keys[row + 1]) continue;
        chosen_.push_back({rows_.runs[run].part, rows_.runs[run].begin + i, row});
      }
    }
    // The row after these rows may have the key of the last one.
    const ChosenRow& row = chosen_.back();
    CFILE_ASSIGN_OR_RETURN(const FoundRow newest, lookup_->Get(keys[count - 1]));
    if (!newest.found() || newest.ordinal() != merge_->FirstOrdinal(row.part) + row.row)
      chosen_.pop_back();
    return absl::OkStatus();
  }

  // Reads the columns from `begin` to `end` at the rows of chosen_, or of rows_ if there is no
  // rule. Reduces chosen_ and rows_ to as many rows as one batch of each file has; if `last`, to
  // the last ones.
  absl::Status ReadColumns(size_t begin, size_t end, bool last) {
    ordinals_.clear();
    if (rule_ != nullptr && chosen_.empty()) return absl::OkStatus();
    if (rule_ != nullptr) {
      runs_.clear();
      for (const ChosenRow& row : chosen_) runs_.push_back({row.part, row.row, 1});
    }
    by_part_.Set(rule_ != nullptr ? runs_ : rows_.runs);
    internal::Places places{0, by_part_.num_rows()};
    CFILE_RETURN_IF_ERROR(ForEachColumn(begin, end, [&](MergedColumn&, auto readers) {
      return MergedColumn::Enter(by_part_, readers, last, places);
    }));
    internal::Places read;
    do {
      read = places;
      CFILE_RETURN_IF_ERROR(ForEachColumn(begin, end, [&](MergedColumn& column, auto readers) {
        return column.Read(by_part_, readers, last, places);
      }));
    } while (places.begin != read.begin);
    if (rule_ == nullptr) {
      merge_->Keep(places.end - places.begin, rows_);
    } else {
      KeepChosen(places);
    }
    for (size_t i = begin; i < end; ++i) {
      if (columns_[i] != key_column_) {
        values_[i] = merged_[i].batch(places);
      } else {
        values_[i] = rule_ == nullptr ? rows_.keys : ChosenKeys();
      }
    }
    if (rule_ != nullptr) {
      for (const ChosenRow& row : chosen_)
        ordinals_.push_back(merge_->FirstOrdinal(row.part) + row.row);
      return absl::OkStatus();
    }
    for (const internal::Run& run : rows_.runs) {
      const uint64_t first = merge_->FirstOrdinal(run.part) + run.begin;
      for (uint64_t i = 0; i < run.count; ++i) ordinals_.push_back(first + i);
    }
    return absl::OkStatus();
  }

  // Reduces chosen_ to `places`, and rows_ to these rows and to the rows that they have replaced.
  void KeepChosen(const internal::Places& places) {
    if (places.end < chosen_.size()) {
      merge_->Keep(chosen_[places.end - 1].place + 1, rows_);
      chosen_.resize(places.end);
    }
    if (places.begin == 0) return;
    const size_t passed = chosen_[places.begin - 1].place + 1;
    merge_->Keep(rows_.keys.size() - passed, rows_);
    chosen_.erase(chosen_.begin(), chosen_.begin() + static_cast<ptrdiff_t>(places.begin));
    for (ChosenRow& row : chosen_) row.place -= passed;
  }

  AnyBatch ChosenKeys() {
    const auto* const keys = static_cast<const std::string_view*>(rows_.keys.values);
    keys_.clear();
    for (const ChosenRow& row : chosen_) keys_.push_back(keys[row.place]);
    return {.values = keys_.data(), .count = keys_.size()};
  }

  // Calls visit(column, readers of the column) for the columns from `begin` to `end`, except that
  // of the keys.
  template <typename Visit>
  absl::Status ForEachColumn(size_t begin, size_t end, const Visit& visit) {
    for (size_t i = begin; i < end; ++i) {
      if (columns_[i] == key_column_) continue;
      const auto readers = [&](size_t part) -> absl::StatusOr<internal::RowReader*> {
        auto& opened = merge_->ReadersOf(part);
        opened.resize(columns_.size());
        if (opened[i] == nullptr) {
          CFILE_ASSIGN_OR_RETURN(const Reader file, table_.OpenColumn(part, columns_[i]));
          CFILE_ASSIGN_OR_RETURN(opened[i], internal::NewRowReader(file));
        }
        return opened[i].get();
      };
      CFILE_RETURN_IF_ERROR(visit(merged_[i], MergedColumn::Readers(readers)));
    }
    return absl::OkStatus();
  }

  // A row that the merge rule leaves.
  struct ChosenRow {
    size_t part;
    uint64_t row;  // of the part
    size_t place;  // among the rows of rows_
  };

  const TableReader table_;
  const size_t key_column_;
  std::vector<size_t> columns_;  // those of the options, then those of the merge rule
  const size_t num_values_;      // how many columns the options name
  const std::unique_ptr<KeyMerge> merge_;
  const AppliedRule* const rule_;  // of table_
  std::optional<TableLookup> lookup_;
  std::vector<ColumnSchema> schemas_;  // of columns_
  KeyMerge::Rows rows_;
  std::vector<ChosenRow> chosen_;       // under a rule
  std::vector<internal::Run> runs_;     // the same
  std::vector<std::string_view> keys_;  // of chosen_
  internal::RowsByPart by_part_;
  std::vector<MergedColumn> merged_;
  std::vector<AnyBatch> values_;
  std::vector<uint64_t> ordinals_;
};

MergeCursor::MergeCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MergeCursor::MergeCursor(MergeCursor&&) noexcept = default;
MergeCursor& MergeCursor::operator=(MergeCursor&&) noexcept = default;
MergeCursor::~MergeCursor() = default;

size_t MergeCursor::key_column() const { return impl_->key_column(); }

absl::StatusOr<bool> MergeCursor::SeekToKeyOf(const void* key, internal::HoldsFunction* holds) {
  CFILE_RETURN_IF_ERROR(impl_->CheckKey(key, holds));
  return impl_->SeekToKey(key);
}

absl::Status MergeCursor::SeekToRangeOf(const void* low, const void* high,
                                        internal::HoldsFunction* holds) {
  CFILE_RETURN_IF_ERROR(impl_->CheckKey(low, holds));
  CFILE_RETURN_IF_ERROR(impl_->CheckKey(high, holds));
  return impl_->merge().SeekToKeyRange(low, high);
}

absl::Status MergeCursor::SeekToPrefix(std::string_view prefix) {
  const std::optional<std::string> after = internal::AfterPrefix(std::string(prefix));
  const std::string_view high = after ? std::string_view(*after) : std::string_view();
  return SeekToRangeOf(&prefix, after ? &high : nullptr, &HoldsType<std::string_view>);
}

absl::Status MergeCursor::SeekToEnd() { return impl_->merge().SeekToEnd(); }

absl::StatusOr<MergeBatch> MergeCursor::Read(bool forward, size_t max_rows) {
  return impl_->Read(forward, max_rows);
}

absl::StatusOr<MergeCursor> MergeCursor::Clone() const {
  CFILE_ASSIGN_OR_RETURN(auto impl, impl_->Clone());
  return MergeCursor(std::move(impl));
}

absl::StatusOr<MergeCursor> TableReader::NewMergeCursor(const MergeCursorOptions& options) const {
  std::optional<size_t> key_column = options.key_column;
  if (!key_column) {
    CFILE_ASSIGN_OR_RETURN(key_column, internal::KeyColumn(*this));
  }
  for (const size_t column : options.columns) {
    CFILE_ASSERT(column < impl_->schema().columns.size() || column == *key_column);
    CFILE_RETURN_IF_ERROR(impl_->CheckNoLevels(column));
  }
  CFILE_RETURN_IF_ERROR(impl_->CheckNoLevels(*key_column));
  // Ends after the last chosen part, because num_parts() of a damaged table may be wrong.
  std::vector<bool> chosen(options.parts ? 1 : 0);
  if (options.parts) {
    for (const size_t part : *options.parts) {
      CFILE_ASSERT(part < num_parts());
      chosen.resize(std::max(chosen.size(), part + 1));
      chosen[part] = true;
    }
  }
  CFILE_ASSIGN_OR_RETURN(auto merge, KeyMerge::Create(*this, *key_column, chosen));
  std::optional<TableLookup> lookup;
  if (impl_->rule() != nullptr) {
    if (options.parts || key_column != impl_->schema().key_index()) {
      return absl::FailedPreconditionError(
          absl::StrCat(directory(),
                       ": the table has a merge rule, so a merge cursor reads all parts "
                       "by the key columns, unless the table is opened with "
                       "ReaderOptions::stored_rows"));
    }
    CFILE_ASSIGN_OR_RETURN(lookup, NewLookup({}));
  }
  return MergeCursor(std::make_unique<MergeCursor::Impl>(
      *this, *key_column, options.columns, std::move(merge), impl_->rule(), std::move(lookup)));
}

}  // namespace cfile
