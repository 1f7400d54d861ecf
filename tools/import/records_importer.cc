#include "tools/import/records_importer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/records.h"
#include "tools/records/json_inference.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kUpdateRecords = 1024;
// Far more than any schema within the limits needs.
constexpr uint64_t kMaxSchemaBytes = 64 << 20;

absl::StatusOr<RecordSchema> ReadSchema(const std::string& path) {
  const auto source = OpenPreadSource(path);
  if (!source.ok()) return source.status();
  if ((*source)->size() > kMaxSchemaBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long to be a schema"));
  }
  std::string text((*source)->size(), '\0');
  absl::Status status =
      (*source)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
  if (!status.ok()) return status;
  auto schema = RecordSchema::Parse(text);
  if (schema.ok()) return schema;
  return absl::InvalidArgumentError(absl::StrCat(path, ":", schema.status().message()));
}

// The name of the file as that of the message: letters, digits and _.
std::string MessageName(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !absl::ascii_isalnum(static_cast<unsigned char>(c)); }, '_');
  return name.empty() ? "record" : name;
}

absl::StatusOr<RecordSchema> InferSchema(JsonLines& lines, const std::string& path,
                                         Progress& progress) {
  JsonInference inference;
  progress.Begin("finding the schema", lines.size());
  for (uint64_t records = 0;; ++records) {
    if (records % kUpdateRecords == 0) {
      if (absl::Status status = progress.Update(lines.offset(), records); !status.ok())
        return status;
    }
    const auto line = lines.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) break;
    if (absl::Status status = inference.Add(**line, lines.line_number()); !status.ok()) {
      return lines.Error(status);
    }
  }
  auto schema = inference.Schema(MessageName(path));
  if (schema.ok()) return schema;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", schema.status().message()));
}

// Choices by column must name leaves.
template <typename T>
absl::Status CheckChoice(const RecordSchema& schema, std::string_view option,
                         const Choice<T>& choice) {
  for (const auto& [path, value] : choice.for_column) {
    const auto is_path = [&, &path = path](size_t leaf) { return schema.Path(leaf) == path; };
    if (std::none_of(schema.leaves().begin(), schema.leaves().end(), is_path)) {
      return absl::InvalidArgumentError(absl::StrCat("--", std::string(option), " ", path,
                                                     ": the schema has no leaf of that path"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WriterOptions>> LeafOptions(const ImportOptions& options,
                                                       const RecordSchema& schema) {
  absl::Status status = CheckChoice(schema, "encoding", options.encoding);
  status.Update(CheckChoice(schema, "compression", options.compression));
  if (!status.ok()) return status;
  std::vector<WriterOptions> all;
  for (const size_t leaf : schema.leaves()) {
    const std::string path = schema.Path(leaf);
    all.push_back({.encoding = options.encoding.Of(path),
                   .goal = options.goal,
                   .compression = options.compression.Of(path),
                   .block_size_bytes = options.block_size_bytes,
                   .compatibility = options.compatibility});
  }
  return all;
}

absl::Status CheckOptions(const ImportOptions& options) {
  const std::pair<std::string_view, bool> csv_only[] = {
      {"--delimiter", options.delimiter != ','},
      {"--null", !options.null_texts.empty()},
      {"--type", !options.types.empty()},
      {"--not-null", !options.not_null.empty()},
      {"--sorted-by", !options.sorted_by.empty()}};
  for (const auto& [option, given] : csv_only) {
    if (!given) continue;
    return absl::InvalidArgumentError(absl::StrCat(std::string(option), " is for CSV; ",
                                                   options.input, " is read as JSON Lines"));
  }
  return absl::OkStatus();
}

absl::Status WriteRecords(JsonLines& lines, RecordWriter& writer, Progress& progress) {
  JsonParser parser(writer.schema());
  lines.Rewind();
  progress.Begin("writing", lines.size());
  for (;;) {
    if (writer.num_records() % kUpdateRecords == 0) {
      absl::Status status = progress.Update(lines.offset(), writer.num_records());
      if (!status.ok()) return status;
    }
    const auto line = lines.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) return writer.Finish();
    if (absl::Status status = parser.Tell(**line, writer); !status.ok()) {
      return lines.Error(status);
    }
  }
}

}  // namespace

absl::StatusOr<ImportResult> ImportRecords(const ImportOptions& options, Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (!options.append) {
    if (absl::Status status = CheckOutputIsFree(options.output); !status.ok()) return status;
  }
  auto lines = JsonLines::Open(options.input);
  if (!lines.ok()) return lines.status();

  ImportResult result{.bytes_in = lines->size(), .records = true};
  absl::StatusOr<RecordSchema> schema = absl::UnknownError("");
  if (options.append) {
    const auto table = TableReader::Open(options.output);
    if (!table.ok()) return table.status();
    schema = table->schema().Records();
  } else if (options.schema_path.empty()) {
    schema = InferSchema(*lines, options.input, progress);
    if (schema.ok()) result.inferred_schema = schema->ToString();
  } else {
    schema = ReadSchema(options.schema_path);
  }
  if (!schema.ok()) return schema.status();
  const auto leaf_options = LeafOptions(options, *schema);
  if (!leaf_options.ok()) return leaf_options.status();

  const auto writer = options.append ? RecordWriter::Append(options.output, *leaf_options)
                                     : RecordWriter::Create(options.output, *schema, *leaf_options);
  if (!writer.ok()) return writer.status();
  if (absl::Status status = WriteRecords(*lines, **writer, progress); !status.ok()) return status;

  const TableWriter& table = (*writer)->table();
  result.rows = (*writer)->num_records();
  for (size_t i = 0; i < table.schema().columns.size(); ++i) {
    const ColumnSchema& column = table.schema().columns[i];
    const auto totals = table.encodings(i);
    result.columns.push_back({.schema = column,
                              .nulls = table.null_count(i),
                              .encoding = table.encoding(i),
                              .encodings = {totals.begin(), totals.end()},
                              .compression = table.compression(i),
                              .bytes = table.bytes_written(i)});
    // What the summary says of nulls is said of entries here.
    result.columns.back().schema.nullable = column.nullable || column.has_levels();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cfile::tools
