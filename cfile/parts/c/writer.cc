#include "cfile/parts/c/writer.h"

#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/arrow_import.h"
#include "cfile/io.h"
#include "cfile/parts/c/call.h"
#include "cfile/parts/c/io.h"
#include "cfile/parts/c/options.h"
#include "cfile/parts/c/value.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

absl::Status CheckType(const ColumnType& column, int32_t type) {
  const PhysicalType physical = column.physical();
  const bool fits = type == static_cast<int32_t>(physical) ||
                    (type == CFILE_BYTES && physical == PhysicalType::kFixedBytes);
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the column's type is ", column.ToString(), ", whose values have the number ",
                   static_cast<int32_t>(physical), "; the values given have the number ", type));
}

// Calls append(values) or append(values, validity).
template <typename T, typename Append>
absl::Status AppendSpan(const void* values, const uint8_t* validity, size_t num_values,
                        Append&& append) {
  Copies<T> copies;
  const std::span<const T> span = SpanOf<T>(values, num_values, copies);
  return validity == nullptr ? append(span)
                             : append(span, std::span(validity, (num_values + 7) / 8));
}

template <typename T>
class FileWriterOf final : public CWriter {
 public:
  FileWriterOf(Writer<T> writer, const ColumnType& type)
      : writer_(std::move(writer)), type_(type) {}

  absl::Status Append(size_t column, int32_t type, const void* values, const uint8_t* validity,
                      size_t num_values) override {
    if (column != 0)
      return absl::OutOfRangeError(
          absl::StrCat("a file has no column ", column, ", only column 0"));
    CFILE_RETURN_IF_ERROR(CheckType(type_, type));
    return AppendSpan<T>(values, validity, num_values,
                         [&](auto... spans) { return writer_.Append(spans...); });
  }
  absl::Status AddMetadata(std::string_view key, std::string_view value) override {
    return writer_.AddMetadata(key, value);
  }
  absl::Status AppendArrow(ArrowArrayStream* stream) override {
    return cfile::AppendArrow(writer_, stream);
  }
  absl::Status Finish() override { return writer_.Finish(); }

 private:
  Writer<T> writer_;
  const ColumnType type_;
};

class PartWriter final : public CWriter {
 public:
  explicit PartWriter(TableWriter writer) : writer_(std::move(writer)) {}

  absl::Status Append(size_t column, int32_t type, const void* values, const uint8_t* validity,
                      size_t num_values) override {
    const Schema& schema = writer_.schema();
    if (column >= schema.columns.size()) return NoSuch("column", column, schema.columns.size());
    const ColumnType& column_type = schema.columns[column].type;
    CFILE_RETURN_IF_ERROR(CheckType(column_type, type));
    return VisitType(column_type, [&]<typename T>(std::type_identity<T>) {
      return AppendSpan<T>(values, validity, num_values,
                           [&](auto... spans) { return writer_.Append<T>(column, spans...); });
    });
  }
  absl::Status AddMetadata(std::string_view, std::string_view) override {
    return absl::FailedPreconditionError(
        "only files have metadata, but this writer writes a table");
  }
  absl::Status AppendArrow(ArrowArrayStream* stream) override {
    return cfile::AppendArrow(writer_, stream);
  }
  absl::Status Finish() override { return writer_.Finish(); }

 private:
  TableWriter writer_;
};

absl::Status CreateFile(absl::StatusOr<std::unique_ptr<Sink>> sink, const char* type_text,
                        const cfile_writer_options* options, cfile_writer** writer) {
  CFILE_RETURN_IF_ERROR(sink.status());
  CFILE_ASSIGN_OR_RETURN(const WriterOptions writer_options, OptionsOf(options));
  CFILE_ASSIGN_OR_RETURN(const ColumnType type, ColumnType::Parse(type_text));
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(auto created, Writer<T>::Create(*std::move(sink), type, writer_options));
    auto result = std::make_unique<cfile_writer>();
    result->writer = std::make_unique<FileWriterOf<T>>(std::move(created), type);
    *writer = result.release();
    return absl::OkStatus();
  });
}

absl::Status MakePartWriter(absl::StatusOr<TableWriter> created, cfile_writer** writer) {
  CFILE_RETURN_IF_ERROR(created.status());
  auto result = std::make_unique<cfile_writer>();
  result->writer = std::make_unique<PartWriter>(*std::move(created));
  *writer = result.release();
  return absl::OkStatus();
}

// Does CallOn unless the writer has finished.
template <typename Work>
cfile_code CallOnOpen(cfile_writer* writer, std::initializer_list<const void*> arguments,
                      Work&& work) {
  return CallOn(writer, arguments, [&]() -> absl::Status {
    if (writer->finished)
      return absl::FailedPreconditionError("the writer has finished: it can only be freed");
    return work();
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_writer_create(const char* path, const char* type,
                               const cfile_writer_options* options, cfile_writer** writer) {
  return Call({path, type, writer},
              [&] { return CreateFile(cfile::NewFileSink(path), type, options, writer); });
}

cfile_code cfile_writer_create_sink(const cfile_sink* sink, const char* type,
                                    const cfile_writer_options* options, cfile_writer** writer) {
  return Call({sink}, [&]() -> absl::Status {
    cfile_sink given;
    const absl::Status known = ReadStruct(sink, given);
    OwnedCallbacks callbacks(given);  // calls `free` if there is an error
    CFILE_RETURN_IF_ERROR(known);
    CFILE_RETURN_IF_ERROR(CheckPointers({type, writer}));
    if (given.append == nullptr) return absl::InvalidArgumentError("append is null");
    return CreateFile(NewCallbackSink(std::move(callbacks)), type, options, writer);
  });
}

cfile_code cfile_schema_create(cfile_schema** schema) {
  return Call({schema}, [&] {
    *schema = new cfile_schema();
    return absl::OkStatus();
  });
}

cfile_code cfile_schema_add_column(cfile_schema* schema, const char* name, const char* type,
                                   int32_t nullable, const cfile_writer_options* options) {
  return CallOn(schema, {name, type}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto writer_options, OptionsOf(options));
    CFILE_ASSIGN_OR_RETURN(auto column_type, cfile::ColumnType::Parse(type));
    schema->options.push_back(writer_options);
    schema->schema.columns.push_back(
        {.name = name, .type = std::move(column_type), .nullable = nullable != 0});
    return absl::OkStatus();
  });
}

cfile_code cfile_schema_add_key(cfile_schema* schema, size_t column, int32_t nulls_last) {
  return CallOn(schema, {}, [&] {
    schema->schema.key_columns.push_back(column);
    if (nulls_last != 0) schema->schema.nulls_last.push_back(column);
    return absl::OkStatus();
  });
}

cfile_code cfile_schema_set_merge_rule(cfile_schema* schema, const size_t* deleted_column,
                                       const size_t* time_column) {
  const auto chosen = [](const size_t* column) {
    return column == nullptr ? std::nullopt : std::optional<size_t>(*column);
  };
  return CallOn(schema, {}, [&] {
    schema->schema.merge_rule = {.deleted_column = chosen(deleted_column),
                                 .time_column = chosen(time_column)};
    return absl::OkStatus();
  });
}

void cfile_schema_free(cfile_schema* schema) { delete schema; }

cfile_code cfile_writer_create_table(const char* directory, const cfile_schema* schema,
                                     cfile_writer** writer) {
  return Call({directory, schema, writer}, [&]() -> absl::Status {
    if (schema->broken) return absl::FailedPreconditionError("the schema can only be freed");
    return MakePartWriter(cfile::TableWriter::Create(directory, schema->schema, schema->options),
                          writer);
  });
}

cfile_code cfile_writer_create_part(const char* directory, const cfile_writer_options* options,
                                    cfile_writer** writer) {
  return Call({directory, writer}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto writer_options, OptionsOf(options));
    return MakePartWriter(cfile::TableWriter::Open(directory, std::span(&writer_options, 1)),
                          writer);
  });
}

cfile_code cfile_writer_append(cfile_writer* writer, size_t column, int32_t type,
                               const void* values, const uint8_t* validity, size_t num_values) {
  return CallOnOpen(writer, {ArrayOf(values, num_values)}, [&] {
    return writer->writer->Append(column, type, values, validity, num_values);
  });
}

cfile_code cfile_writer_append_arrow(cfile_writer* writer, ArrowArrayStream* stream) {
  const cfile_code code =
      CallOnOpen(writer, {stream}, [&] { return writer->writer->AppendArrow(stream); });
  // If the call was refused before it began, the stream is not yet released.
  if (stream != nullptr && stream->release != nullptr) stream->release(stream);
  return code;
}

cfile_code cfile_writer_add_metadata(cfile_writer* writer, cfile_bytes key, cfile_bytes value) {
  return CallOnOpen(writer, {ArrayOf(key.data, key.size), ArrayOf(value.data, value.size)}, [&] {
    return writer->writer->AddMetadata({key.data, key.size}, {value.data, value.size});
  });
}

cfile_code cfile_writer_finish(cfile_writer* writer) {
  return CallOnOpen(writer, {}, [&] {
    writer->finished = true;
    return writer->writer->Finish();
  });
}

void cfile_writer_free(cfile_writer* writer) { delete writer; }
