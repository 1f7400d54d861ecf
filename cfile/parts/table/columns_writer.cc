// Writes new columns, or new values of columns, for the parts that a table has.
#include "cfile/table_columns.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/sticky_status.h"
#include "cfile/parts/table/column_change.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::AnyBatch;
using internal::AnyLevelBatch;
using internal::ColumnChange;
using internal::ColumnWriter;
using internal::TableColumns;
using internal::TablePartColumn;

// Copies `count` bits from bit `begin` of `bits`.
std::vector<uint8_t> BitsFrom(const uint8_t* bits, size_t begin, size_t count) {
  std::vector<uint8_t> result((count + 7) / 8);
  for (size_t i = 0; i < count; ++i) {
    const int bit = bits[(begin + i) / 8] >> ((begin + i) % 8) & 1;
    result[i / 8] = static_cast<uint8_t>(result[i / 8] | bit << (i % 8));
  }
  return result;
}

}  // namespace

class ColumnsWriter::Impl {
 public:
  explicit Impl(std::shared_ptr<Storage> storage)
      : finished_(storage->name()), change_(std::move(storage)) {}
  ~Impl() { columns_.clear(); }  // removes the incomplete files

  absl::Status Add(std::span<const ColumnSchema> columns, std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(change_.Begin(options));
    CFILE_RETURN_IF_ERROR(internal::CheckFlat(storage(), change_.before().schema));
    columns_after_ =
        TableColumns{change_.before().schema, internal::IdentitiesOf(change_.before())};
    TableColumns& after = *columns_after_;
    for (const ColumnSchema& column : columns) {
      CFILE_ASSIGN_OR_RETURN(const uint32_t id, after.NewId());
      std::vector<uint32_t>& ids = after.identities.ids;
      ids.insert(ids.begin() + static_cast<ptrdiff_t>(after.schema.columns.size()), id);
      after.identities.defaults.emplace_back();
      columns_.push_back(std::make_unique<Column>(storage(), after.schema.columns.size(), column));
      after.schema.columns.push_back(column);
      if (column.has_levels()) {
        return absl::InvalidArgumentError(absl::StrCat(storage().name(), ": column ", column.name,
                                                       " has levels, but the table is flat"));
      }
    }
    CFILE_RETURN_IF_ERROR(
        internal::Named(internal::ValidateSchema(after.schema), storage().name()));
    CFILE_RETURN_IF_ERROR(change_.CheckColumns(after));
    return Begin({}, options);
  }

  absl::Status Replace(std::span<const std::string> names, std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(change_.Begin(options));
    const Schema& schema = change_.before().schema;
    std::vector<size_t> replaced;
    for (const std::string& name : names) {
      const std::optional<size_t> column = schema.Find(name);
      if (!column) return internal::NoColumn(storage(), name);
      if (std::count(replaced.begin(), replaced.end(), *column) > 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(storage().name(), ": column ", name, " is named twice"));
      }
      if (std::count(schema.key_columns.begin(), schema.key_columns.end(), *column) > 0) {
        return absl::FailedPreconditionError(
            absl::StrCat(storage().name(), ": column ", name,
                         " is a key column, whose values cannot be replaced alone"));
      }
      if (schema.IsOfRule(*column)) return internal::IsColumnOfRule(storage(), schema, *column);
      replaced.push_back(*column);
      columns_.push_back(std::make_unique<Column>(storage(), *column, schema.columns[*column]));
    }
    return Begin(std::move(replaced), options);
  }

  uint64_t num_rows() const { return num_rows_; }
  const Schema& schema() const { return schema_; }

  // `holds`: whether a column of a type holds the C++ type of the values.
  absl::Status Append(size_t i, internal::HoldsFunction* holds, const AnyBatch& rows) {
    CFILE_ASSERT(i < columns_.size());
    Column& column = *columns_[i];
    const encodings::Lane lane = encodings::LaneOf(column.schema.type.physical());
    return column.status.Run([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CheckHolds(column, holds, /*levels=*/false));
      for (size_t done = 0; done < rows.size();) {
        CFILE_RETURN_IF_ERROR(EnterNextRow(column));
        const uint64_t left = change_.parts()[column.part].num_rows - column.rows;
        const auto count = static_cast<size_t>(std::min<uint64_t>(left, rows.size() - done));
        AnyBatch in_part{.values = encodings::ValueAt(rows.values, lane, done), .count = count};
        std::vector<uint8_t> bits;
        if (rows.validity != nullptr) {
          if (done % 8 != 0) bits = BitsFrom(rows.validity, done, count);
          in_part.validity = done % 8 == 0 ? rows.validity + done / 8 : bits.data();
        }
        CFILE_RETURN_IF_ERROR(column.writer->writer().Append(in_part));
        column.rows += count;
        done += count;
      }
      return absl::OkStatus();
    });
  }

  absl::Status Append(size_t i, internal::HoldsFunction* holds, const AnyLevelBatch& entries) {
    CFILE_ASSERT(i < columns_.size());
    Column& column = *columns_[i];
    const encodings::Lane lane = encodings::LaneOf(column.schema.type.physical());
    const std::span<const uint16_t> repetition = entries.repetition;
    const std::span<const uint16_t> definition = entries.definition;
    encodings::ValueSpan values = entries.values;
    return column.status.Run([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CheckHolds(column, holds, /*levels=*/true));
      const LevelLimits& limits = column.schema.levels;
      const bool repeated = limits.max_repetition > 0;
      if (repeated && repetition.size() != definition.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("expected as many repetition levels as definition levels, found ",
                         repetition.size(), " and ", definition.size()));
      }
      const auto begins_record = [&](size_t entry) { return !repeated || repetition[entry] == 0; };
      for (size_t begin = 0; begin < definition.size();) {
        if (begins_record(begin) || column.writer == nullptr) {
          CFILE_RETURN_IF_ERROR(EnterNextRow(column));
        }
        // The entries before the first record of the next part.
        const uint64_t num_rows = change_.parts()[column.part].num_rows;
        size_t end = begin;
        for (; end < definition.size(); ++end) {
          if (!begins_record(end)) continue;
          if (column.rows == num_rows) break;
          ++column.rows;
        }
        const size_t size = end - begin;
        const auto levels = definition.subspan(begin, size);
        const auto present = std::count(levels.begin(), levels.end(), limits.max_definition);
        // If this call has too many values, the last writer gets these values and refuses them.
        const size_t taken = end == definition.size()
                                 ? values.count
                                 : std::min(values.count, static_cast<size_t>(present));
        CFILE_RETURN_IF_ERROR(column.writer->writer().Append(
            AnyLevelBatch{.repetition = repeated ? repetition.subspan(begin, size) : repetition,
                          .definition = levels,
                          .values = {values.data, taken}}));
        values = {encodings::ValueAt(values.data, lane, taken), values.count - taken};
        begin = end;
      }
      return absl::OkStatus();
    });
  }

  absl::Status Finish() {
    CFILE_RETURN_IF_ERROR(finished_.status());
    for (const auto& column : columns_) CFILE_RETURN_IF_ERROR(column->status.status());
    return finished_.Finish([&]() -> absl::Status {
      for (const auto& column : columns_) {
        CFILE_RETURN_IF_ERROR(column->status.Finish([&] { return FinishColumn(*column); }));
      }
      return change_.Commit(columns_after_);
    });
  }

 private:
  struct Column {
    Column(const Storage& storage, size_t column_number, ColumnSchema column_schema)
        : number(column_number), schema(std::move(column_schema)), status(storage.name()) {}

    const size_t number;  // in the new schema
    const ColumnSchema schema;
    WriterOptions options;
    internal::StickyStatus status;
    size_t part = 0;    // the part that is being written
    uint64_t rows = 0;  // rows of this part so far; with levels: records that have begun
    std::unique_ptr<ColumnWriter> writer;  // for this part; null: the part's file was not begun
    std::vector<TablePartColumn> files;    // the files of the earlier parts
  };

  Storage& storage() { return change_.storage(); }

  absl::Status Begin(std::vector<size_t> replaced, std::span<const WriterOptions> options) {
    if (options.size() > 1 && options.size() != columns_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          storage().name(), ": expected no options, one for all columns or one for each of the ",
          columns_.size(), " columns, found ", options.size()));
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!options.empty()) columns_[i]->options = options[options.size() == 1 ? 0 : i];
      schema_.columns.push_back(columns_[i]->schema);
    }
    CFILE_RETURN_IF_ERROR(change_.ReadParts(std::move(replaced)));
    for (const auto& column : columns_) {
      if (column->number > 0 || !column->options.metadata.empty()) continue;
      CFILE_ASSIGN_OR_RETURN(column->options.metadata, change_.FirstColumnMetadata());
    }
    for (const ColumnChange::Part& part : change_.parts()) num_rows_ += part.num_rows;
    return absl::OkStatus();
  }

  absl::Status CheckHolds(const Column& column, internal::HoldsFunction* holds, bool levels) {
    if (!holds(column.schema.type)) {
      return absl::InvalidArgumentError(absl::StrCat(
          storage().name(), ": column ", column.schema.name, " holds ",
          column.schema.type.ToString(), ", to which values of this C++ type cannot be appended"));
    }
    if (column.schema.has_levels() == levels) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(storage().name(), ": column ", column.schema.name,
                     levels ? " has no levels: append to it with Append"
                            : " has levels: append to it with AppendLevels"));
  }

  // Goes to the part of the next row, and begins its file if there is none.
  absl::Status EnterNextRow(Column& column) {
    while (column.part < change_.parts().size() &&
           column.rows == change_.parts()[column.part].num_rows) {
      CFILE_RETURN_IF_ERROR(FinishFile(column));
    }
    if (column.part == change_.parts().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(storage().name(), ": column ", column.schema.name, ": expected ", num_rows_,
                       " rows, as many as the table has, found more"));
    }
    return BeginFile(column);
  }

  absl::Status BeginFile(Column& column) {
    if (column.writer != nullptr) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(
        column.writer, change_.NewFile(change_.parts()[column.part], column.number, column.schema,
                                       column.options));
    return absl::OkStatus();
  }

  absl::Status FinishFile(Column& column) {
    CFILE_RETURN_IF_ERROR(BeginFile(column));  // a part without rows needs a file, too
    CFILE_ASSIGN_OR_RETURN(column.files.emplace_back(), column.writer->Finish());
    column.writer.reset();
    ++column.part;
    column.rows = 0;
    return absl::OkStatus();
  }

  absl::Status FinishColumn(Column& column) {
    while (column.part < change_.parts().size()) {
      if (column.rows < change_.parts()[column.part].num_rows) {
        uint64_t rows = column.rows;
        for (size_t i = 0; i < column.part; ++i) rows += change_.parts()[i].num_rows;
        return absl::InvalidArgumentError(
            absl::StrCat(storage().name(), ": column ", column.schema.name, ": expected ",
                         num_rows_, " rows, as many as the table has, found ", rows));
      }
      CFILE_RETURN_IF_ERROR(FinishFile(column));
    }
    for (size_t i = 0; i < column.files.size(); ++i) {
      change_.parts()[i].files.emplace_back(column.number, std::move(column.files[i]));
    }
    return absl::OkStatus();
  }

  internal::StickyStatus finished_;
  ColumnChange change_;
  std::optional<TableColumns> columns_after_;  // nullopt: the schema stays as it is
  uint64_t num_rows_ = 0;
  std::vector<std::unique_ptr<Column>> columns_;
  Schema schema_;  // of columns_
};

ColumnsWriter::ColumnsWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ColumnsWriter::ColumnsWriter(ColumnsWriter&&) noexcept = default;
ColumnsWriter& ColumnsWriter::operator=(ColumnsWriter&&) noexcept = default;
ColumnsWriter::~ColumnsWriter() = default;

absl::StatusOr<ColumnsWriter> ColumnsWriter::Add(const TableLocation& table,
                                                 std::span<const ColumnSchema> columns,
                                                 std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Add(columns, options));
  return ColumnsWriter(std::move(impl));
}

absl::StatusOr<ColumnsWriter> ColumnsWriter::Replace(const TableLocation& table,
                                                     std::span<const std::string> names,
                                                     std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Replace(names, options));
  return ColumnsWriter(std::move(impl));
}

uint64_t ColumnsWriter::num_rows() const { return impl_->num_rows(); }
const Schema& ColumnsWriter::schema() const { return impl_->schema(); }

absl::Status ColumnsWriter::AppendRows(size_t column, internal::HoldsFunction* holds,
                                       const AnyBatch& rows) {
  return impl_->Append(column, holds, rows);
}

absl::Status ColumnsWriter::AppendEntries(size_t column, internal::HoldsFunction* holds,
                                          const AnyLevelBatch& entries) {
  return impl_->Append(column, holds, entries);
}

absl::Status ColumnsWriter::Finish() { return impl_->Finish(); }

}  // namespace cfile
