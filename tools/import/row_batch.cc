#include "tools/import/row_batch.h"

#include <cassert>
#include <utility>

#include "cfile/batch.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

template <typename T>
class TypedColumnBatch final : public ColumnBatch {
 public:
  TypedColumnBatch(TextType type, size_t column) : type_(std::move(type)), column_(column) {}

  void Reset(size_t capacity) override { values_.Reset(capacity); }

  absl::Status Set(size_t row, std::string_view text) override {
    CFILE_ASSIGN_OR_RETURN(const T value, ParseValue<T>(type_, text, scratch_));
    values_.Set(row, value);
    return absl::OkStatus();
  }

  void SetNull(size_t row) override { values_.SetNull(row); }

  absl::Status Append(size_t rows, TableWriter& writer) const override {
    const Batch<T> batch = values_.batch();
    const std::span<const T> values = batch.values.first(rows);
    return batch.validity == nullptr
               ? writer.Append<T>(column_, values)
               : writer.Append<T>(column_, values, {batch.validity, (rows + 7) / 8});
  }

 private:
  const TextType type_;
  const size_t column_;
  OwnedBatch<T> values_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<ColumnBatch> ColumnBatch::Create(const TextType& type, size_t column) {
  return VisitType(type.type, [&](auto t) -> std::unique_ptr<ColumnBatch> {
    return std::make_unique<TypedColumnBatch<typename decltype(t)::type>>(type, column);
  });
}

RowBatch::RowBatch(const CsvInput& input, std::span<const ImportColumn> columns,
                   std::optional<RowKey> row_key)
    : input_(input), columns_(columns), row_key_(std::move(row_key)) {
  for (const ImportColumn& column : columns_) {
    batches_.push_back(ColumnBatch::Create(column.text_type(), column.table_column));
  }
}

void RowBatch::Reset(size_t max_rows) {
  for (const auto& batch : batches_) batch->Reset(max_rows);
  keys_.clear();
  num_rows_ = 0;
  size_bytes_ = 0;
}

absl::Status RowBatch::Parse(uint64_t begin, uint64_t end) {
  CsvReader& reader = input_.reader();
  Reset(reader.MaxRecords(begin, end));
  size_bytes_ = end - begin;
  reader.SeekToRange(begin, end);
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(AddRow());
  }
}

absl::Status RowBatch::Parse(std::span<const KeyedRow> rows) {
  Reset(rows.size());
  for (const KeyedRow& row : rows) {
    const RecordPlace& place = row.place;
    size_bytes_ += place.end - place.begin;
    input_.reader().SeekToRange(place.begin, place.end);
    CFILE_ASSIGN_OR_RETURN([[maybe_unused]] const bool found, input_.reader().Next());
    assert(found);
    CFILE_RETURN_IF_ERROR(AddRow());
  }
  return absl::OkStatus();
}

// Adds the reader's last record.
absl::Status RowBatch::AddRow() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const CsvField& field = input_.reader().fields()[i];
    if (input_.IsNull(i)) {
      if (!columns_[i].schema.nullable) {
        return UnfitRows(input_.Error(i, "a null, but the column is not nullable"));
      }
      batches_[i]->SetNull(num_rows_);
    } else if (absl::Status status = batches_[i]->Set(num_rows_, field.text); !status.ok()) {
      return input_.Error(i, status);
    }
  }
  if (row_key_.has_value()) {
    CFILE_ASSIGN_OR_RETURN(const std::string_view key, row_key_->Of(input_));
    keys_.emplace_back(key);
  }
  ++num_rows_;
  return absl::OkStatus();
}

absl::Status RowBatch::AppendColumn(size_t column, TableWriter& writer) const {
  return batches_[column]->Append(num_rows_, writer);
}

absl::Status RowBatch::AppendKeys(TableWriter& writer) const {
  const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
  return writer.Append<std::string_view>(*writer.schema().key_index(), keys);
}

}  // namespace cfile::tools
