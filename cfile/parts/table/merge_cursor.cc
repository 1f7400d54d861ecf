#include "cfile/merge_cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/key_search.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/merged_column.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/sort_column.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::AnyBatch;
using internal::KeyMerge;
using internal::MergedColumn;

class MergeCursor::Impl {
 public:
  Impl(TableReader table, size_t key_column, std::vector<size_t> columns,
       std::unique_ptr<KeyMerge> merge)
      : table_(std::move(table)),
        key_column_(key_column),
        columns_(std::move(columns)),
        merge_(std::move(merge)),
        values_(columns_.size()) {
    const std::vector<ColumnSchema>& schemas = table_.schema().columns;
    for (const size_t column : columns_) {
      schemas_.push_back(column < schemas.size()
                             ? schemas[column]
                             : ColumnSchema{.name = "", .type = merge_->type()});
      merged_.emplace_back(encodings::LaneOf(schemas_.back().type.physical()));
    }
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

  absl::StatusOr<MergeBatch> Read(bool forward, size_t max_rows) {
    CFILE_RETURN_IF_ERROR(forward ? merge_->Next(max_rows, rows_)
                                  : merge_->Previous(max_rows, rows_));
    if (rows_.keys.empty()) return MergeBatch();
    const absl::Status status = ReadColumns(/*last=*/!forward);
    if (!status.ok()) merge_->Keep(0, rows_);
    CFILE_RETURN_IF_ERROR(status);
    ordinals_.clear();
    for (const internal::Run& run : rows_.runs) {
      const uint64_t first = merge_->FirstOrdinal(run.part) + run.begin;
      for (uint64_t i = 0; i < run.count; ++i) ordinals_.push_back(first + i);
    }
    return MergeBatch(ordinals_, values_.data(), schemas_);
  }

  absl::StatusOr<std::unique_ptr<Impl>> Clone() const {
    CFILE_ASSIGN_OR_RETURN(auto merge, merge_->Clone());
    return std::make_unique<Impl>(table_, key_column_, columns_, std::move(merge));
  }

 private:
  // Reads the columns at rows_. Keeps as many rows as one batch of each file has; if `last`, the
  // last ones.
  absl::Status ReadColumns(bool last) {
    by_part_.Set(rows_.runs);
    internal::Places places{0, by_part_.num_rows()};
    CFILE_RETURN_IF_ERROR(ForEachColumn([&](MergedColumn&, auto readers) {
      return MergedColumn::Enter(by_part_, readers, last, places);
    }));
    internal::Places read;
    do {
      read = places;
      CFILE_RETURN_IF_ERROR(ForEachColumn([&](MergedColumn& column, auto readers) {
        return column.Read(by_part_, readers, last, places);
      }));
    } while (places.begin != read.begin);
    const size_t count = places.end - places.begin;
    merge_->Keep(count, rows_);
    for (size_t i = 0; i < columns_.size(); ++i) {
      values_[i] = columns_[i] == key_column_ ? rows_.keys : merged_[i].batch(places);
    }
    return absl::OkStatus();
  }

  // Calls visit(column, readers of the column) for each column except that of the keys.
  template <typename Visit>
  absl::Status ForEachColumn(const Visit& visit) {
    for (size_t i = 0; i < columns_.size(); ++i) {
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

  const TableReader table_;
  const size_t key_column_;
  const std::vector<size_t> columns_;
  const std::unique_ptr<KeyMerge> merge_;
  std::vector<ColumnSchema> schemas_;  // of columns_
  KeyMerge::Rows rows_;
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
  return impl_->merge().SeekToKey(key);
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
  return MergeCursor(
      std::make_unique<MergeCursor::Impl>(*this, *key_column, options.columns, std::move(merge)));
}

}  // namespace cfile
