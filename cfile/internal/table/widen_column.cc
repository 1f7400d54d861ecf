// Gives a column of a table a wider type, which holds all values of the old type.
#include "cfile/table_columns.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/format/metadata_keys.h"
#include "cfile/internal/io/named_status.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/table/column_change.h"
#include "cfile/internal/table/compound_key_check.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::AnyBatch;
using internal::AnyWriter;
using internal::ColumnChange;
using internal::ColumnWriter;
using internal::TableColumns;

template <typename T>
inline constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);

// True if To has all values of From, and the order of the memcmp forms is the same.
template <typename From, typename To>
constexpr bool Holds() {
  if constexpr (kIsInteger<From> && kIsInteger<To>) {
    return kIsSigned<From> == kIsSigned<To> ? sizeof(From) <= sizeof(To)
                                            : kIsSigned<To> && sizeof(From) < sizeof(To);
  } else {
    return std::is_same_v<From, To> || (std::is_same_v<From, float> && std::is_same_v<To, double>);
  }
}

// Calls visit(std::type_identity<From>{}, std::type_identity<To>{}).
// Precondition: IsWider(from, to) is true.
template <typename Visitor>
absl::Status VisitTypes(const ColumnType& from, const ColumnType& to, Visitor visit) {
  return VisitType(from, [&]<typename From>(std::type_identity<From> type) {
    return VisitType(to, [&]<typename To>(std::type_identity<To> wider) -> absl::Status {
      if constexpr (Holds<From, To>() && !std::is_same_v<From, bool>) return visit(type, wider);
      return absl::InternalError("not a wider type");
    });
  });
}

bool IsWider(const ColumnType& from, const ColumnType& to) {
  // True for an integer type without parameters. A decimal's precision is such a parameter.
  const auto is_plain = [](const ColumnType& type) {
    return type == ColumnType{.data_type = type.data_type} &&
           (type.data_type <= DataType::kInt64 || type.data_type == DataType::kInt128);
  };
  if (is_plain(from) && is_plain(to)) {
    return from != to && VisitType(from, [&]<typename From>(std::type_identity<From>) {
             return VisitType(
                 to, []<typename To>(std::type_identity<To>) { return Holds<From, To>(); });
           });
  }
  if (from.decimal_precision > 0) {
    return to.decimal_precision > from.decimal_precision && to.decimal_scale == from.decimal_scale;
  }
  return (from == ColumnType::Float() && to == ColumnType::Double()) ||
         (from == ColumnType::Varchar() && to == ColumnType::String());
}

template <typename From, typename To>
absl::Status CopyValues(const Reader& reader, AnyWriter& writer) {
  CFILE_ASSIGN_OR_RETURN(Cursor<From> cursor, reader.NewCursor<From>());
  std::vector<To> wide;
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const Batch<From> batch, cursor.Next(kMaxBatchRows));
    if (batch.empty()) return absl::OkStatus();
    wide.assign(batch.values.begin(), batch.values.end());
    CFILE_RETURN_IF_ERROR(writer.Append(
        AnyBatch{.values = wide.data(), .count = wide.size(), .validity = batch.validity}));
  }
}

class Widening {
 public:
  Widening(const TableLocation& location, const WriterOptions& options)
      : location_(location), options_(options), change_(location.storage()) {}

  absl::Status Run(std::string_view name, const ColumnType& type) {
    CFILE_RETURN_IF_ERROR(change_.Begin({&options_, 1}));
    before_ = change_.before().schema;
    CFILE_RETURN_IF_ERROR(internal::CheckFlat(change_.storage(), before_));
    const std::optional<size_t> column = before_.Find(name);
    if (!column) return internal::NoColumn(change_.storage(), name);
    column_ = *column;
    CFILE_RETURN_IF_ERROR(ChangeType(type));
    CFILE_RETURN_IF_ERROR(change_.ReadParts({column_}));
    CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(location_, ReadOptions()));
    // The schema of `table` must be before_.
    // If it is not, another program has changed the table meanwhile, and Commit would fail, too.
    if (table.schema() != before_ || table.num_parts() != change_.parts().size()) {
      return absl::AbortedError(
          absl::StrCat(table.directory(), ": the table was changed meanwhile"));
    }
    for (size_t part = 0; part < change_.parts().size(); ++part) {
      CFILE_RETURN_IF_ERROR(WidenPart(table, part));
    }
    return change_.Commit(after_);
  }

 private:
  ReaderOptions ReadOptions() const {
    return {.max_block_size_bytes = options_.max_block_size_bytes,
            .max_bloom_filter_bytes = options_.max_bloom_filter_bytes,
            .max_metadata_size_bytes = options_.max_metadata_size_bytes,
            .max_dictionary_values = options_.max_dictionary_values,
            .max_index_size_bytes = options_.max_index_size_bytes,
            .max_open_files = 8};
  }
  bool is_key() const {
    return std::count(before_.key_columns.begin(), before_.key_columns.end(), column_) > 0;
  }

  // Sets after_. The column gets a new id. The reason: until chunks are written again, chunks
  // describe the values of the column in the old form.
  // The column of compound keys keeps its id, because compound keys are bytes in both forms.
  absl::Status ChangeType(const ColumnType& type) {
    const std::string& name = change_.storage().name();
    CFILE_RETURN_IF_ERROR(internal::Named(Validate(type), name));
    const ColumnType& from = before_.columns[column_].type;
    if (!IsWider(from, type)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": column ", before_.columns[column_].name, " holds ", from.ToString(),
                       ", and ", type.ToString(), " is not a wider type of this kind"));
    }
    after_ = {before_, internal::IdentitiesOf(change_.before())};
    after_.schema.columns[column_].type = type;
    CFILE_ASSIGN_OR_RETURN(after_.identities.ids[column_], after_.NewId());
    std::optional<std::string>& value = after_.identities.defaults[column_];
    if (!value) return absl::OkStatus();
    return VisitTypes(
        from, type,
        [&]<typename From, typename To>(std::type_identity<From>, std::type_identity<To>) {
          Owned<From> narrow{};
          const bool is_key =
              internal::ParseKey<From>(*value, narrow);  // the manifest has checked the value
          value->clear();
          if (is_key) internal::AppendKey<To>(static_cast<To>(From(narrow)), *value);
          return absl::OkStatus();
        });
  }

  absl::Status WidenPart(const TableReader& table, size_t number) {
    ColumnChange::Part& part = change_.parts()[number];
    CFILE_ASSIGN_OR_RETURN(const std::string file, table.part_file(number, column_));
    if (file.empty()) return absl::OkStatus();  // all rows have the default value
    CFILE_ASSIGN_OR_RETURN(const Reader reader, table.OpenColumn(number, column_));
    const ColumnSchema& column = after_.schema.columns[column_];
    WriterOptions options = options_;
    options.value_index = reader.info().value_index_root.has_value();
    if (options.metadata.empty()) options.metadata = internal::TablePairs(reader.info());
    CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<ColumnWriter> writer,
                           change_.NewFile(part, column_, column, options));
    CFILE_RETURN_IF_ERROR(VisitTypes(
        before_.columns[column_].type, column.type,
        [&]<typename From, typename To>(std::type_identity<From>, std::type_identity<To>) {
          return CopyValues<From, To>(reader, writer->writer());
        }));
    CFILE_ASSIGN_OR_RETURN(internal::TablePartColumn description, writer->Finish());
    const std::string path = absl::StrCat(part.name, "/", description.file_name);
    part.files.emplace_back(column_, std::move(description));
    return is_key() ? WriteKeys(table, number, path) : absl::OkStatus();
  }

  // `path`: the path of the new file of the key column.
  absl::Status WriteKeys(const TableReader& table, size_t number, const std::string& path) {
    std::vector<Reader> columns;
    for (const size_t column : before_.key_columns) {
      if (column == column_) {
        CFILE_ASSIGN_OR_RETURN(auto source, change_.storage().Open(path));
        CFILE_ASSIGN_OR_RETURN(Reader reader, Reader::Open(std::move(source), ReadOptions()));
        columns.push_back(std::move(reader));
      } else {
        CFILE_ASSIGN_OR_RETURN(Reader reader, table.OpenColumn(number, column));
        columns.push_back(std::move(reader));
      }
    }
    ColumnChange::Part& part = change_.parts()[number];
    const size_t key_index = *before_.key_index();
    CFILE_ASSIGN_OR_RETURN(
        const std::unique_ptr<ColumnWriter> writer,
        change_.NewFile(part, key_index, internal::StoredColumns(after_.schema)[key_index],
                        CompoundKeyOptions()));
    CFILE_RETURN_IF_ERROR(internal::Named(
        internal::AppendKeys(after_.schema.key_types(), columns, part.num_rows, writer->writer()),
        table.directory()));
    CFILE_ASSIGN_OR_RETURN(internal::TablePartColumn description, writer->Finish());
    part.files.emplace_back(key_index, std::move(description));
    return absl::OkStatus();
  }

  const TableLocation& location_;
  const WriterOptions& options_;
  ColumnChange change_;
  Schema before_;
  size_t column_ = 0;
  TableColumns after_;
};

}  // namespace

absl::Status WidenColumn(const TableLocation& table, std::string_view name, const ColumnType& type,
                         const WriterOptions& options) {
  return Widening(table, options).Run(name, type);
}

}  // namespace cfile
