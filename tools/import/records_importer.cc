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
#include "tools/input/text_format.h"
#include "tools/records/json_inference.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kUpdateRecords = 1024;
// The schema is first found from this many bytes of records: few enough to be read quickly, and
// enough to see which fields are often missing.
constexpr uint64_t kSampleBytes = 4 << 20;
// The largest schema file that is read: far larger than any schema within the limits.
constexpr uint64_t kMaxSchemaBytes = 64 << 20;

absl::StatusOr<RecordSchema> ReadSchema(const std::string& path, const RecordLimits& limits) {
  const auto source = OpenPreadSource(path);
  if (!source.ok()) return source.status();
  if ((*source)->size() > kMaxSchemaBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long to be a schema"));
  }
  std::string text((*source)->size(), '\0');
  absl::Status status =
      (*source)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
  if (!status.ok()) return status;
  auto schema = RecordSchema::Parse(text, limits);
  if (schema.ok()) return schema;
  return absl::InvalidArgumentError(absl::StrCat(path, ":", schema.status().message()));
}

// The name of the root of a schema: the file's name, with _ in place of each character that is not
// a letter or a digit.
std::string MessageName(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !absl::ascii_isalnum(static_cast<unsigned char>(c)); }, '_');
  return name.empty() ? "record" : name;
}

// Finds the schema of the records in the first `max_bytes` bytes. kInvalidArgument also if there
// are more records and the schema is not settled (JsonInference::settled).
absl::StatusOr<RecordSchema> InferSchema(JsonLines& lines, uint64_t max_bytes,
                                         const RecordLimits& limits, const std::string& path,
                                         Progress& progress) {
  JsonInference inference(limits);
  lines.Rewind();
  progress.Begin("finding the schema", std::min(max_bytes, lines.size()));
  for (uint64_t records = 0; lines.offset() < max_bytes; ++records) {
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
  if (max_bytes < lines.size() && !inference.settled()) {
    return absl::InvalidArgumentError("the schema is not settled");
  }
  auto schema = inference.Schema(MessageName(path));
  if (schema.ok()) return schema;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", schema.status().message()));
}

// kInvalidArgument if `choice` names a column that is not the path of a leaf.
template <typename T>
absl::Status CheckChoice(const RecordSchema& schema, std::string_view option,
                         const Choice<T>& choice) {
  for (const auto& [path, value] : choice.for_column) {
    const auto is_path = [&, &path = path](size_t leaf) { return schema.Path(leaf) == path; };
    if (std::none_of(schema.leaves().begin(), schema.leaves().end(), is_path)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", std::string(option), " ", path, ": the schema has no leaf column of that path"));
    }
  }
  return absl::OkStatus();
}

// The options of each leaf. `indexed[i]`: leaf i gets a value index; leaves after the end of
// `indexed` get none.
absl::StatusOr<std::vector<WriterOptions>> LeafOptions(const ImportOptions& options,
                                                       const RecordSchema& schema,
                                                       const std::vector<bool>& indexed) {
  absl::Status status = CheckChoice(schema, "encoding", options.encoding);
  status.Update(CheckChoice(schema, "compression", options.compression));
  if (!status.ok()) return status;
  std::vector<WriterOptions> all;
  for (const size_t leaf : schema.leaves()) {
    const std::string path = schema.Path(leaf);
    const bool value_index = all.size() < indexed.size() && indexed[all.size()];
    all.push_back({.encoding = options.encoding.Of(path),
                   .goal = options.goal,
                   .compression = options.compression.Of(path),
                   .value_index = value_index,
                   .block_size_bytes = options.block_size_bytes,
                   .max_block_size_bytes = options.max_block_size_bytes,
                   .max_metadata_size_bytes = options.max_metadata_size_bytes,
                   .compatibility = options.compatibility});
  }
  return all;
}

absl::Status CheckOptions(const ImportOptions& options) {
  const std::pair<std::string_view, bool> csv_only[] = {
      {"--delimiter", options.delimiter.has_value()},
      {"--header", options.header != Header::kAuto},
      {"--names", !options.names.empty()},
      {"--skip-bad-rows", options.skip_bad_rows > 0},
      {"--null", !options.null_texts.empty()},
      {"--type", !options.types.empty()},
      {"--not-null", !options.not_null.empty()},
      {"--sorted-by", !options.sorted_by.empty()},
      {"--memory", options.memory_bytes != ImportOptions().memory_bytes}};
  for (const auto& [option, given] : csv_only) {
    if (!given) continue;
    return absl::InvalidArgumentError(absl::StrCat(std::string(option), " is for CSV; ",
                                                   options.input, " is read as JSON Lines"));
  }
  return absl::OkStatus();
}

absl::Status WriteRecords(JsonLines& lines, JsonSchema origin, RecordWriter& writer,
                          Progress& progress) {
  JsonParser parser(writer.schema(), origin);
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

// Writes all records with this schema and describes the result.
absl::StatusOr<ImportResult> ImportWith(const RecordSchema& schema, JsonSchema origin,
                                        const ImportOptions& options, JsonLines& lines,
                                        Progress& progress, const std::vector<bool>& indexed = {}) {
  const auto leaf_options = LeafOptions(options, schema, indexed);
  if (!leaf_options.ok()) return leaf_options.status();
  auto writer = options.append ? RecordWriter::Append(options.output, *leaf_options)
                               : RecordWriter::Create(options.output, schema, *leaf_options);
  if (!writer.ok()) return writer.status();
  if (absl::Status status = WriteRecords(lines, origin, *writer, progress); !status.ok()) {
    return status;
  }
  const TableWriter& table = writer->table();
  ImportResult result{.rows = writer->num_records(), .bytes_in = lines.size(), .records = true};
  for (size_t i = 0; i < table.schema().columns.size(); ++i) {
    const ColumnSchema& column = table.schema().columns[i];
    result.columns.push_back({.schema = column, .totals = table.totals(i)});
    // In the summary, nulls are entries without a value, which every leaf with levels may have.
    result.columns.back().schema.nullable = column.nullable || column.has_levels();
  }
  return result;
}

// Imports with the schema of the first records. If it is not the schema of all records, starts
// again with the schema of all records.
absl::StatusOr<ImportResult> ImportWithFoundSchema(const ImportOptions& options, JsonLines& lines,
                                                   Progress& progress) {
  const auto import = [&](uint64_t max_bytes) -> absl::StatusOr<ImportResult> {
    const auto schema =
        InferSchema(lines, max_bytes, options.record_limits, options.input, progress);
    if (!schema.ok()) return schema.status();
    const JsonSchema origin =
        max_bytes < lines.size() ? JsonSchema::kFoundInSome : JsonSchema::kFoundInAll;
    auto result = ImportWith(*schema, origin, options, lines, progress);
    if (result.ok()) result->inferred_schema = schema->ToString();
    return result;
  };
  if (kSampleBytes < lines.size()) {
    auto result = import(kSampleBytes);
    if (!absl::IsInvalidArgument(result.status())) return result;
  }
  return import(lines.size());
}

// Appends a part to the table at options.output. If the records ascend, each leaf that has a value
// index in the table gets a value index in the new part, too. Otherwise the part has no value
// index, and searches read the part from its beginning.
absl::StatusOr<ImportResult> ImportIntoTable(const ImportOptions& options, JsonLines& lines,
                                             Progress& progress) {
  const auto table =
      TableReader::Open(options.output, {.max_metadata_size_bytes = options.max_metadata_size_bytes,
                                         .record_limits = options.record_limits});
  if (!table.ok()) return table.status();
  const auto schema = table->schema().Records(options.record_limits);
  if (!schema.ok()) return schema.status();
  std::vector<bool> indexed;
  for (size_t i = 0; i < table->schema().columns.size(); ++i) {
    const auto has_index = table->has_value_index(i);
    if (!has_index.ok()) return has_index.status();
    indexed.push_back(*has_index);
  }
  const bool any = std::find(indexed.begin(), indexed.end(), true) != indexed.end();
  auto result = ImportWith(*schema, JsonSchema::kGiven, options, lines, progress, indexed);
  // Either the records do not ascend, or there is another error, which the second try finds again.
  if (!any || !absl::IsInvalidArgument(result.status())) return result;
  return ImportWith(*schema, JsonSchema::kGiven, options, lines, progress);
}

}  // namespace

absl::StatusOr<ImportResult> ImportRecords(const ImportOptions& options, const InputFile& file,
                                           Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = CheckIsUtf8Text(*file.source); !status.ok()) return status;
  JsonLines lines(file.source);

  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  if (options.append) {
    result = ImportIntoTable(options, lines, progress);
  } else if (options.schema_path.empty()) {
    result = ImportWithFoundSchema(options, lines, progress);
  } else {
    const auto schema = ReadSchema(options.schema_path, options.record_limits);
    if (!schema.ok()) return schema.status();
    result = ImportWith(*schema, JsonSchema::kGiven, options, lines, progress);
  }
  if (!result.ok()) return result.status();
  result->format = "JSON";
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cfile::tools
