#include "tools/import/records_importer.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tools/file_format.h"
#include "tools/import/column_options.h"
#include "tools/import/table_sorter.h"
#include "tools/import/type_pass.h"
#include "tools/input/input_file.h"
#include "tools/records/json_inference.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kUpdateRecords = 1024;
// The schema is first found from this many bytes of records: few enough to be read quickly, and
// enough to see which fields are often missing.
constexpr uint64_t kSchemaSampleBytes = 4 << 20;
// The largest schema file that is read: far larger than any schema within the limits.
constexpr uint64_t kMaxSchemaBytes = 64 << 20;

// The name of the root of a schema: the file's name, with _ in place of each character that is not
// a letter or a digit.
std::string MessageName(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() ? "record" : name;
}

struct FoundSchema {
  RecordSchema schema;
  std::vector<JsonLeaf> leaves;
};

// Finds the schema of the records in the first `max_bytes` bytes. kInvalidArgument also if there
// are more records and the schema is not settled (JsonInference::settled).
absl::StatusOr<FoundSchema> InferSchema(JsonLines& lines, uint64_t max_bytes,
                                        const ImportOptions& options, Progress& progress) {
  JsonInference inference(options.record_limits, options.types, options.inferred_types(),
                          {options.columns.begin(), options.columns.end()});
  lines.Rewind();
  progress.Begin("finding the schema", std::min(max_bytes, lines.size()));
  for (uint64_t records = 0; lines.offset() < max_bytes; ++records) {
    if (records % kUpdateRecords == 0) {
      CFILE_RETURN_IF_ERROR(progress.Update(lines.offset(), records));
    }
    CFILE_ASSIGN_OR_RETURN(const auto line, lines.Next());
    if (!line.has_value()) break;
    if (options.skip_bad_rows > 0 && !IsJsonObject(*line)) continue;
    if (absl::Status status = inference.Add(*line, lines.line_number()); !status.ok()) {
      return lines.Error(status);
    }
  }
  CFILE_RETURN_IF_ERROR(CheckColumns(options.columns, options.input, inference.FieldNames()));
  if (max_bytes < lines.size() && !inference.settled()) {
    return absl::InvalidArgumentError("the schema is not settled");
  }
  auto schema = inference.Schema(MessageName(options.input));
  if (schema.ok()) return FoundSchema{*std::move(schema), inference.Leaves()};
  return absl::InvalidArgumentError(absl::StrCat(options.input, ": ", schema.status().message()));
}

// Makes columns nullable, because later imports may have nulls. A column of `sorted_by` stays.
absl::StatusOr<RecordSchema> WithNullableColumns(const RecordSchema& found,
                                                 const ImportOptions& options) {
  std::vector<RecordNode> nodes(found.nodes().begin(), found.nodes().end());
  for (const size_t leaf : found.leaves()) {
    // Optional leaves of lists and of optional groups would need one more level.
    if (nodes[leaf].max_definition > 0) continue;
    if (std::ranges::count(options.sorted_by, found.Path(leaf)) > 0) continue;
    nodes[leaf].repetition = Repetition::kOptional;
  }
  return RecordSchema::Create(std::move(nodes), options.record_limits);
}

// Takes a record without using it.
class RecordCheck final : public RecordVisitor {
 public:
  absl::Status BeginGroup(size_t) override { return absl::OkStatus(); }
  absl::Status EndGroup(size_t) override { return absl::OkStatus(); }
  absl::Status Value(size_t, const RecordValue&) override { return absl::OkStatus(); }
};

// Writes all records, and finishes the writer.
absl::StatusOr<ImportResult> WriteRecords(JsonLines& lines, const JsonParserOptions& parsing,
                                          const ImportOptions& options, RecordWriter writer,
                                          Progress& progress) {
  ImportResult result{.bytes_in = lines.size(), .format = "JSON", .records = true};
  SkippedRows& skipped = result.skipped;
  JsonParser parser(writer.schema(), parsing);
  JsonParser checker(writer.schema(), parsing);
  RecordCheck check;
  lines.Rewind();
  progress.Begin("writing", lines.size());
  for (;;) {
    if (writer.num_records() % kUpdateRecords == 0) {
      CFILE_RETURN_IF_ERROR(progress.Update(lines.offset(), writer.num_records()));
    }
    CFILE_ASSIGN_OR_RETURN(const auto line, lines.Next());
    if (!line.has_value()) break;
    if (options.skip_bad_rows > 0) {
      if (absl::Status status = checker.Tell(*line, check); !status.ok()) {
        if (!absl::IsInvalidArgument(status)) return lines.Error(status);
        const std::string reason(status.message());
        if (++skipped.count > options.skip_bad_rows) {
          return lines.Error(absl::InvalidArgumentError(
              absl::StrCat(reason, "; more records are bad than --skip-bad-rows ",
                           options.skip_bad_rows, " allows")));
        }
        if (skipped.lines.size() < kMaxSkippedLines) skipped.lines.push_back(lines.line_number());
        if (skipped.reasons.size() < kShownBadRows) skipped.reasons.push_back(reason);
        continue;
      }
    }
    if (absl::Status status = parser.Tell(*line, writer); !status.ok()) {
      return lines.Error(status);
    }
  }
  CFILE_RETURN_IF_ERROR(writer.Finish());
  const TableWriter& table = writer.table();
  result.rows = writer.num_records();
  result.columns = ColumnsOf(table.schema(), [&](size_t i) { return table.totals(i); });
  return result;
}

// Writes the records to the table. If it has an order, writes them to a temporary table, and from
// there to the table in the order of `sorted_by`.
absl::StatusOr<ImportResult> ImportWith(const Schema& schema,
                                        const std::vector<std::string>& sorted_by,
                                        const JsonParserOptions& parsing,
                                        const ImportOptions& options, JsonLines& lines,
                                        Progress& progress) {
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, schema.Records(options.record_limits));
  const std::vector<WriterOptions> column_options = OptionsOfColumns(options, schema, sorted_by);
  if (sorted_by.empty()) {
    CFILE_ASSIGN_OR_RETURN(RecordWriter writer,
                           options.append
                               ? RecordWriter::Append(options.table, column_options)
                               : RecordWriter::Create(options.table, tree, column_options));
    return WriteRecords(lines, parsing, options, std::move(writer), progress);
  }
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewTableWriter(options, schema, column_options));
  CFILE_ASSIGN_OR_RETURN(
      const UnsortedTable unsorted,
      UnsortedTable::Create(options.temporary_directory, schema, column_options));
  CFILE_ASSIGN_OR_RETURN(RecordWriter copy,
                         RecordWriter::Create(unsorted.path(), tree, unsorted.own_options()));
  CFILE_ASSIGN_OR_RETURN(ImportResult result,
                         WriteRecords(lines, parsing, options, std::move(copy), progress));
  CFILE_ASSIGN_OR_RETURN(result.reordered, unsorted.AppendSortedTo(writer, options.input, sorted_by,
                                                                   options.memory_bytes, progress));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  result.sorted_by = sorted_by;
  result.columns = ColumnsOf(schema, [&](size_t i) { return writer.totals(i); });
  return result;
}

// Imports with the schema of the first records. If it is not the schema of all records, starts
// again with the schema of all records.
absl::StatusOr<ImportResult> ImportWithFoundSchema(const ImportOptions& options,
                                                   JsonParserOptions parsing, JsonLines& lines,
                                                   Progress& progress) {
  const auto import = [&](uint64_t max_bytes) -> absl::StatusOr<ImportResult> {
    CFILE_ASSIGN_OR_RETURN(const FoundSchema found,
                           InferSchema(lines, max_bytes, options, progress));
    parsing.origin = max_bytes < lines.size() ? JsonSchema::kFoundInSome : JsonSchema::kFoundInAll;
    parsing.oldest_reader = options.inferred_types();
    parsing.without_values.clear();
    for (size_t i = 0; i < found.leaves.size(); ++i) {
      if (!found.leaves[i].has_values) {
        parsing.without_values.insert(found.schema.Path(found.schema.leaves()[i]));
      }
    }
    CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, WithNullableColumns(found.schema, options));
    CFILE_ASSIGN_OR_RETURN(const Schema schema, ApplyOptions(options, Schema::OfRecords(tree)));
    CFILE_ASSIGN_OR_RETURN(ImportResult result, ImportWith(schema, options.sorted_by, parsing,
                                                           options, lines, progress));
    result.inferred_schema = schema.tree->ToString();
    for (size_t i = 0; i < result.columns.size(); ++i) {
      const bool is_given = options.types.contains(result.columns[i].schema.name);
      result.columns[i].reason = is_given ? TypeReason{.text = "--type"} : found.leaves[i].reason;
    }
    return result;
  };
  // A bad record must not seem to be one with another schema.
  if (kSchemaSampleBytes < lines.size() && options.skip_bad_rows == 0) {
    auto result = import(kSchemaSampleBytes);
    if (!absl::IsInvalidArgument(result.status())) return result;
  }
  return import(lines.size());
}

// The schema with only the fields that --columns names.
absl::StatusOr<RecordSchema> ChosenFields(const RecordSchema& schema,
                                          const ImportOptions& options) {
  CFILE_RETURN_IF_ERROR(CheckColumns(options.columns, options.schema_path, FieldsOf(schema)));
  std::vector<RecordNode> nodes = {schema.node(0)};
  nodes[0].num_children = 0;
  for (size_t i = 1; i < schema.nodes().size(); i = schema.node(i).end) {
    if (!options.columns.empty() && std::ranges::count(options.columns, schema.node(i).name) == 0)
      continue;
    ++nodes[0].num_children;
    const auto fields = schema.nodes().subspan(i, schema.node(i).end - i);
    nodes.insert(nodes.end(), fields.begin(), fields.end());
  }
  return RecordSchema::Create(std::move(nodes), options.record_limits);
}

// The names of the fields of the first 100 records.
ImportResult FindNames(const ImportOptions& options, JsonLines& lines) {
  JsonInference inference(options.record_limits);
  for (uint64_t record = 0; record < 100; ++record) {
    const auto line = lines.Next();
    if (!line.ok() || !line->has_value() || !inference.Add(**line, record).ok()) break;
  }
  return {.names = inference.FieldNames()};
}

// Appends a part to the table at options.output. The new part is sorted like the table.
absl::StatusOr<ImportResult> ImportIntoTable(const ImportOptions& options,
                                             const JsonParserOptions& parsing, JsonLines& lines,
                                             Progress& progress) {
  Schema schema;
  std::vector<std::string> sorted_by;
  CFILE_RETURN_IF_ERROR(TakeSchemaOfTable(options, schema, sorted_by));
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, schema.Records(options.record_limits));
  CFILE_RETURN_IF_ERROR(CheckColumns(options.columns, options.output, FieldsOf(tree)));
  return ImportWith(schema, sorted_by, parsing, options, lines, progress);
}

}  // namespace

absl::StatusOr<RecordSchema> ReadSchema(ImportOptions& options) {
  const std::string& path = options.schema_path;
  CFILE_ASSIGN_OR_RETURN(const auto source, OpenPreadSource(path));
  if (source->size() > kMaxSchemaBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long to be a schema"));
  }
  CFILE_ASSIGN_OR_RETURN(std::string text, ReadBytes(*source, 0, source->size()));
  const absl::Status taken = TakeMergeRuleLines(text, options.sorted_by, options.merge);
  if (!taken.ok()) return absl::InvalidArgumentError(StrCat(path, ": ", taken.message()));
  auto schema = RecordSchema::Parse(text, options.record_limits);
  if (schema.ok()) return schema;
  return absl::InvalidArgumentError(absl::StrCat(path, ":", schema.status().message()));
}

absl::StatusOr<ImportResult> ImportRecords(ImportOptions options, const InputFile& file,
                                           Progress& progress) {
  CFILE_RETURN_IF_ERROR(RefuseCsvOptions(options, "as JSON"));
  CFILE_RETURN_IF_ERROR(CheckIsUtf8Text(*file.source));
  JsonLines lines(file.source, options.at);
  if (options.names_only) return FindNames(options, lines);
  const JsonParserOptions parsing{.given = options.types,
                                  .columns = {options.columns.begin(), options.columns.end()}};
  if (options.append) return ImportIntoTable(options, parsing, lines, progress);
  if (options.schema_path.empty()) return ImportWithFoundSchema(options, parsing, lines, progress);
  CFILE_ASSIGN_OR_RETURN(const RecordSchema all, ReadSchema(options));
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ChosenFields(all, options));
  CFILE_ASSIGN_OR_RETURN(const Schema schema, ApplyOptions(options, Schema::OfRecords(tree)));
  return ImportWith(schema, options.sorted_by, parsing, options, lines, progress);
}

}  // namespace cfile::tools
