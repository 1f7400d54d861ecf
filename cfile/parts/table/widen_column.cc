// Gives columns of a table wider types or nulls, and appends rows in the same commit.
#include "cfile/table_columns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/batch.h"
#include "cfile/compound_key.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/parts/table/column_change.h"
#include "cfile/parts/table/compound_key_check.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::AnyBatch;
using internal::AnyWriter;
using internal::ColumnChange;
using internal::ColumnWriter;
using internal::CommonType;
using internal::Holds;
using internal::IsExact;
using internal::IsStorable;
using internal::IsWider;
using internal::TableColumns;

// Calls visit(std::type_identity<From>{}, std::type_identity<To>{}).
// Precondition: IsStorable(from, to) is true.
template <typename Visitor>
absl::Status VisitTypes(const ColumnType& from, const ColumnType& to, Visitor visit) {
  return VisitType(from, [&]<typename From>(std::type_identity<From> type) {
    return VisitType(to, [&]<typename To>(std::type_identity<To> wider) -> absl::Status {
      if constexpr (Holds<From, To>()) return visit(type, wider);
      return absl::InternalError("not a wider type");
    });
  });
}

template <typename From>
absl::Status Inexact(std::string_view column, From value) {
  std::string text;
  if constexpr (kIsInteger<From> && sizeof(From) == sizeof(int64_t)) text = std::to_string(value);
  return absl::InvalidArgumentError(
      encodings::StrCat("column ", column, ": no double is equal to ", text));
}

// Converts `rows`, whose values are of type From, to `wide`, whose values are of type To. `column`:
// the name of the column, for errors.
template <typename From, typename To>
absl::Status Convert(std::string_view column, const AnyBatch& rows, internal::OwnedValues& wide) {
  const Batch<From> batch = rows.As<From>();
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!batch.IsValid(i)) {
      wide.SetNull(i);
    } else if (IsExact<From, To>(batch.values[i])) {
      static_cast<To*>(wide.data())[i] = static_cast<To>(batch.values[i]);
    } else {
      return Inexact(column, batch.values[i]);
    }
  }
  return absl::OkStatus();
}

using ConvertRows = absl::Status(std::string_view column, const AnyBatch& rows,
                                 internal::OwnedValues& wide);

// `convert`: null if the values stay as they are. `lane`: of the column of `writer`.
absl::Status CopyValues(const Reader& reader, std::string_view column, encodings::Lane lane,
                        ConvertRows* convert, AnyWriter& writer) {
  CFILE_ASSIGN_OR_RETURN(const auto cursor,
                         internal::NewValueCursor(internal::ReaderAccess::File(reader)));
  internal::OwnedValues wide(lane);
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, cursor->Next(kMaxBatchRows));
    if (batch.empty()) return absl::OkStatus();
    if (convert != nullptr) {
      wide.Reset(batch.size());
      CFILE_RETURN_IF_ERROR(convert(column, batch, wide));
    }
    CFILE_RETURN_IF_ERROR(writer.Append(convert == nullptr ? batch : wide.batch()));
  }
}

// False for nested records. Flat records have a tree of leaves.
bool IsFlat(const Schema& schema) {
  return !schema.tree || (schema.tree->nodes().size() == schema.columns.size() + 1 &&
                          std::ranges::none_of(schema.columns, &ColumnSchema::has_levels));
}

// The options of the files of a column.
using OptionsOfColumn = std::function<WriterOptions(const ColumnSchema&)>;

class Evolution {
 public:
  Evolution(const TableLocation& location, const OptionsOfColumn& options)
      : location_(location), options_(options), change_(location.storage()) {}

  absl::Status Widen(std::string_view name, const ColumnType& type) {
    CFILE_RETURN_IF_ERROR(Begin());
    const std::optional<size_t> column = before().Find(name);
    if (!column) return internal::NoColumn(change_.storage(), name);
    CFILE_RETURN_IF_ERROR(Named(Validate(type)));
    const ColumnType& from = before().columns[*column].type;
    if (!IsWider(from, type)) {
      return Error("column ", before().columns[*column].name, " holds ", from.ToString(), ", and ",
                   type.ToString(), " is not a wider type of this kind");
    }
    CFILE_RETURN_IF_ERROR(Change(*column, type, before().columns[*column].nullable));
    CFILE_RETURN_IF_ERROR(UpdateTree());
    CFILE_RETURN_IF_ERROR(Named(internal::ValidateSchema(after_.schema)));
    CFILE_RETURN_IF_ERROR(Rewrite());
    return change_.Commit(after_);
  }

  absl::StatusOr<std::vector<std::string>> Append(const TableReader& rows) {
    CFILE_RETURN_IF_ERROR(Begin());
    if (!IsFlat(rows.schema())) {
      return absl::UnimplementedError(absl::StrCat(name(), ": the new rows are nested records"));
    }
    CFILE_RETURN_IF_ERROR(ChangeFor(rows));
    CFILE_RETURN_IF_ERROR(Rewrite());
    std::vector<WriterOptions> options;
    for (size_t i = 0; i < after_.schema.columns.size(); ++i) {
      WriterOptions& chosen = options.emplace_back(options_(after_.schema.columns[i]));
      if (i >= before().columns.size() || before().key_index()) continue;
      CFILE_ASSIGN_OR_RETURN(chosen.value_index, IsSortColumn(i));
    }
    const bool changes = after_.schema != before();
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, internal::TableWriterAccess::Begin(
                                                   location_.storage(), after_.schema,
                                                   changes ? std::optional(after_.identities)
                                                           : change_.before().identities,
                                                   change_.before().oldest_reader, options));
    for (size_t i = 0; i < sources_.size(); ++i) {
      CFILE_RETURN_IF_ERROR(AppendColumn(rows, i, writer));
    }
    CFILE_ASSIGN_OR_RETURN(std::vector<internal::TablePart> parts,
                           internal::TableWriterAccess::Complete(writer));
    CFILE_RETURN_IF_ERROR(
        change_.Commit(changes ? std::optional(after_) : std::nullopt, std::move(parts)));
    return std::move(changes_);
  }

 private:
  const std::string& name() { return change_.storage().name(); }
  absl::Status Named(const absl::Status& status) { return internal::Named(status, name()); }
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) {
    return absl::InvalidArgumentError(encodings::StrCat(name(), ": ", parts...));
  }
  const Schema& before() const { return change_.before().schema; }

  static ReaderOptions ReadOptions(const WriterOptions& options) {
    return {.max_block_size_bytes = options.max_block_size_bytes,
            .max_bloom_filter_bytes = options.max_bloom_filter_bytes,
            .max_metadata_size_bytes = options.max_metadata_size_bytes,
            .max_dictionary_values = options.max_dictionary_values,
            .max_index_size_bytes = options.max_index_size_bytes,
            .max_open_files = 8};
  }

  absl::Status Begin() {
    const WriterOptions options = options_({});
    CFILE_RETURN_IF_ERROR(change_.Begin({&options, 1}));
    if (!IsFlat(before())) return internal::CheckFlat(change_.storage(), before());
    after_ = {before(), internal::IdentitiesOf(change_.before())};
    CFILE_ASSIGN_OR_RETURN(table_, TableReader::Open(location_, ReadOptions(options)));
    if (table_->schema() == before()) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(name(), ": the table was changed meanwhile"));
  }

  absl::StatusOr<bool> IsSortColumn(size_t column) const {
    const std::vector<size_t>& keys = before().key_columns;
    if (std::count(keys.begin(), keys.end(), column) > 0) return true;
    return table_->has_value_index(column);
  }

  // Gives a column in after_ another type, or nulls, and a new id, because chunks describe its
  // values in the old form until they are written again. The column of compound keys keeps its id:
  // compound keys are bytes in both forms.
  absl::Status Change(size_t number, const ColumnType& type, bool nullable) {
    ColumnSchema& column = after_.schema.columns[number];
    const ColumnType from = column.type;
    if (from == type && column.nullable == nullable) return absl::OkStatus();
    if (column.nullable != nullable) {
      CFILE_ASSIGN_OR_RETURN(const bool sorts, IsSortColumn(number));
      if (sorts) {
        return Error("column ", column.name, " cannot get nulls, because it sorts the rows");
      }
      changes_.push_back(encodings::StrCat("column ", column.name, " may be null from now on"));
    }
    if (from != type) {
      changes_.push_back(encodings::StrCat("column ", column.name, " changes from ",
                                           from.ToString(), " to ", type.ToString()));
    }
    changed_.push_back(number);
    column.type = type;
    column.nullable = nullable;
    CFILE_ASSIGN_OR_RETURN(after_.identities.ids[number], after_.NewId());
    std::optional<std::string>& value = after_.identities.defaults[number];
    if (!value || from == type) return absl::OkStatus();
    return VisitTypes(
        from, type,
        [&]<typename From, typename To>(std::type_identity<From>, std::type_identity<To>) {
          Owned<From> narrow{};
          // The manifest has checked the value.
          const bool is_key = internal::ParseKey<From>(*value, narrow);
          if (is_key && !IsExact<From, To>(From(narrow))) {
            return Inexact(column.name, From(narrow));
          }
          value->clear();
          if (is_key) internal::AppendKey<To>(static_cast<To>(From(narrow)), *value);
          return absl::OkStatus();
        });
  }

  // Makes the tree of flat records again if their columns have changed.
  absl::Status UpdateTree() {
    if (!before().tree || after_.schema.columns == before().columns) return absl::OkStatus();
    after_.schema.tree.reset();
    CFILE_ASSIGN_OR_RETURN(after_.schema.tree, after_.schema.Records());
    return absl::OkStatus();
  }

  // Sets after_ so that the columns can get `rows`, and sources_.
  absl::Status ChangeFor(const TableReader& rows) {
    sources_.resize(before().columns.size());
    std::vector<bool> gets_nulls(before().columns.size(), rows.num_rows() > 0);
    for (size_t i = 0; i < rows.schema().columns.size(); ++i) {
      const ColumnSchema& column = rows.schema().columns[i];
      uint64_t nulls = 0;
      for (size_t part = 0; part < rows.num_parts(); ++part) {
        CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, rows.part_bounds(part, i));
        nulls += bounds.null_count;
      }
      const std::optional<size_t> found = before().Find(column.name);
      if (!found) {
        CFILE_RETURN_IF_ERROR(
            after_.Add({.name = column.name, .type = column.type, .nullable = true}, std::nullopt));
        sources_.emplace_back(i);
        changes_.push_back(
            encodings::StrCat("column ", column.name, " is new: ", column.type.ToString()));
        continue;
      }
      gets_nulls[*found] = nulls > 0;
      if (nulls < rows.num_rows()) sources_[*found] = i;  // else values of any type are right
    }
    for (size_t i = 0; i < before().columns.size(); ++i) {
      const ColumnSchema& column = before().columns[i];
      ColumnType type = column.type;
      if (sources_[i]) {
        const ColumnType& added = rows.schema().columns[*sources_[i]].type;
        const std::optional<ColumnType> common = CommonType(type, added);
        if (!common) {
          return Error("column ", column.name, " holds ", type.ToString(),
                       ", the new rows have values of the type ", added.ToString(),
                       ", and no column type holds both");
        }
        type = *common;
      }
      CFILE_RETURN_IF_ERROR(Change(i, type, column.nullable || gets_nulls[i]));
    }
    CFILE_RETURN_IF_ERROR(UpdateTree());
    return Named(internal::ValidateSchema(after_.schema));
  }

  absl::Status AppendColumn(const TableReader& rows, size_t number, TableWriter& writer) {
    const ColumnSchema& column = after_.schema.columns[number];
    const std::optional<size_t> source = sources_[number];
    if (!source) {
      internal::OwnedValues values(encodings::LaneOf(column.type.physical()));
      values.Reset(kMaxBatchRows);
      const std::vector<uint8_t> none((kMaxBatchRows + 7) / 8);
      AnyWriter& to = internal::TableWriterAccess::Column(writer, number);
      for (uint64_t left = rows.num_rows(); left > 0;) {
        const size_t count = std::min<uint64_t>(left, kMaxBatchRows);
        CFILE_RETURN_IF_ERROR(
            to.Append(AnyBatch{.values = values.data(), .count = count, .validity = none.data()}));
        left -= count;
      }
      return absl::OkStatus();
    }
    for (size_t part = 0; part < rows.num_parts(); ++part) {
      CFILE_ASSIGN_OR_RETURN(const Reader reader, rows.OpenColumn(part, *source));
      CFILE_RETURN_IF_ERROR(Named(Copy(reader, rows.schema().columns[*source].type, column,
                                       internal::TableWriterAccess::Column(writer, number))));
    }
    return absl::OkStatus();
  }

  static absl::Status Copy(const Reader& reader, const ColumnType& from, const ColumnSchema& column,
                           AnyWriter& writer) {
    return VisitTypes(
        from, column.type,
        [&]<typename From, typename To>(std::type_identity<From>, std::type_identity<To>) {
          ConvertRows* convert = nullptr;
          if constexpr (!std::is_same_v<From, To>) convert = Convert<From, To>;
          return CopyValues(reader, column.name, encodings::LaneOf<To>(), convert, writer);
        });
  }

  // Writes new files of the columns in changed_, in all parts.
  absl::Status Rewrite() {
    if (after_.schema != before()) CFILE_RETURN_IF_ERROR(change_.CheckColumns(after_));
    CFILE_RETURN_IF_ERROR(change_.ReadParts(changed_));
    // If the parts of table_ are others, another program has changed the table meanwhile.
    if (!changed_.empty() && table_->num_parts() != change_.parts().size()) {
      return absl::AbortedError(absl::StrCat(name(), ": the table was changed meanwhile"));
    }
    for (size_t part = 0; part < change_.parts().size() && !changed_.empty(); ++part) {
      CFILE_RETURN_IF_ERROR(RewritePart(part));
    }
    return absl::OkStatus();
  }

  absl::Status RewritePart(size_t number) {
    ColumnChange::Part& part = change_.parts()[number];
    std::map<size_t, std::string> paths;  // of the new files, by column
    for (const size_t i : changed_) {
      CFILE_ASSIGN_OR_RETURN(const std::string file, table_->part_file(number, i));
      if (file.empty()) continue;  // all rows have the default value
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(number, i));
      const ColumnSchema& column = after_.schema.columns[i];
      WriterOptions options = options_(column);
      options.value_index = reader.info().value_index_root.has_value();
      if (options.metadata.empty()) options.metadata = internal::TablePairs(reader.info());
      CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<ColumnWriter> writer,
                             change_.NewFile(part, i, column, options));
      CFILE_RETURN_IF_ERROR(
          Named(Copy(reader, before().columns[i].type, column, writer->writer())));
      CFILE_ASSIGN_OR_RETURN(internal::TablePartColumn description, writer->Finish());
      paths.emplace(i, absl::StrCat(part.name, "/", description.file_name));
      part.files.emplace_back(i, std::move(description));
    }
    const std::vector<size_t>& keys = before().key_columns;
    const bool has_key = std::any_of(keys.begin(), keys.end(),
                                     [&](size_t column) { return paths.contains(column); });
    return has_key ? WriteKeys(number, paths) : absl::OkStatus();
  }

  // Writes the compound keys of a part. `paths`: the new files of columns.
  absl::Status WriteKeys(size_t number, const std::map<size_t, std::string>& paths) {
    std::vector<Reader> columns;
    for (const size_t column : before().key_columns) {
      if (const auto path = paths.find(column); path != paths.end()) {
        CFILE_ASSIGN_OR_RETURN(auto source, change_.storage().Open(path->second));
        CFILE_ASSIGN_OR_RETURN(
            Reader reader,
            Reader::Open(std::move(source), ReadOptions(options_(after_.schema.columns[column]))));
        columns.push_back(std::move(reader));
      } else {
        CFILE_ASSIGN_OR_RETURN(Reader reader, table_->OpenColumn(number, column));
        columns.push_back(std::move(reader));
      }
    }
    ColumnChange::Part& part = change_.parts()[number];
    const size_t key_index = *after_.schema.key_index();
    CFILE_ASSIGN_OR_RETURN(
        const std::unique_ptr<ColumnWriter> writer,
        change_.NewFile(part, key_index, internal::StoredColumns(after_.schema)[key_index],
                        CompoundKeyOptions()));
    CFILE_RETURN_IF_ERROR(
        Named(internal::AppendKeys(after_.schema.key_types(), columns, part.num_rows,
                                   after_.schema.merge_rule.has_value(), writer->writer())));
    CFILE_ASSIGN_OR_RETURN(internal::TablePartColumn description, writer->Finish());
    part.files.emplace_back(key_index, std::move(description));
    return absl::OkStatus();
  }

  const TableLocation& location_;
  const OptionsOfColumn& options_;
  ColumnChange change_;
  std::optional<TableReader> table_;  // before the change
  TableColumns after_;
  std::vector<size_t> changed_;                 // columns that get new files
  std::vector<std::optional<size_t>> sources_;  // by column of after_: the column of the new rows
  std::vector<std::string> changes_;
};

}  // namespace

absl::Status WidenColumn(const TableLocation& table, std::string_view name, const ColumnType& type,
                         const WriterOptions& options) {
  const OptionsOfColumn of_column = [&](const ColumnSchema&) { return options; };
  return Evolution(table, of_column).Widen(name, type);
}

absl::StatusOr<std::vector<std::string>> AppendTable(
    const TableLocation& table, const TableReader& rows,
    const std::function<WriterOptions(const ColumnSchema&)>& options) {
  if (rows.applies_merge_rule()) {
    return absl::FailedPreconditionError(
        absl::StrCat(rows.directory(),
                     ": rows of a table with a merge rule cannot be appended, "
                     "unless it is opened with ReaderOptions::stored_rows"));
  }
  return Evolution(table, options).Append(rows);
}

}  // namespace cfile
