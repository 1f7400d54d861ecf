// cfile-dump without a subcommand: the summary of a file or a table.
#include "tools/dump/commands.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/totals.h"
#include "tools/location.h"
#include "tools/merge_rule.h"
#include "tools/progress.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// A progress line: how much was read of files that are opened with `observer`, one after another.
class SummaryProgress {
 public:
  SummaryProgress() { progress_.Begin("opening", 0); }

  ReadObserver observer() {
    return [this](const std::string&, const ObservedRead& read) {
      if (ended_) return;
      read_bytes_ += read.size_bytes;
      // No signal is caught, so there is no error.
      progress_.Update(done_bytes_ + std::min(read_bytes_ / passes_, file_bytes_), 0).IgnoreError();
    };
  }

  // `total_bytes`: the size of all files.
  void Begin(uint64_t total_bytes) {
    done_bytes_ = file_bytes_ = 0;
    ended_ = false;
    progress_.Begin("reading", total_bytes);
  }

  // From now on, BlockTotals::Add reads this file.
  void BeginFile(const Reader& reader) {
    done_bytes_ += file_bytes_;
    file_bytes_ = reader.info().file_size_bytes;
    passes_ = BlockTotals::ReadsTwice(reader) ? 2 : 1;
    read_bytes_ = 0;
  }

  // Removes the line, until Begin is called.
  void End() {
    progress_.End();
    ended_ = true;
  }

 private:
  Progress progress_;
  uint64_t done_bytes_ = 0;  // the size of the files before the current one
  uint64_t file_bytes_ = 0;  // the size of the current file
  uint64_t passes_ = 1;      // how often the current file is read
  uint64_t read_bytes_ = 0;  // the bytes of the current file that were read, in all passes
  bool ended_ = false;
};

// Totals of one column over all parts.
struct ColumnTotals {
  BlockTotals blocks;
  ColumnBounds bounds;
  bool indexed = false;  // each part has an index by value: the column is a key
  uint64_t file_bytes = 0;
  bool lacks_files = false;               // a file could not be opened
  std::vector<std::string> compressions;  // codecs that blocks use, each once

  // False: some blocks could not be read.
  bool complete() const { return blocks.status.ok(); }
};

ColumnTotals Measure(const TableReader& table, size_t column, SummaryProgress& progress) {
  ColumnTotals totals;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const auto reader = table.OpenColumn(part, column);
    if (!reader.ok()) {
      totals.blocks.status.Update(reader.status());
      totals.lacks_files = true;
      continue;
    }
    const uint64_t compressed_before = totals.blocks.compressed_blocks();
    progress.BeginFile(*reader);
    totals.blocks.Add(*reader);
    totals.bounds.Add(*reader);
    totals.indexed = reader->info().value_index_root && (part == 0 || totals.indexed);
    totals.file_bytes += reader->info().file_size_bytes;
    if (totals.blocks.compressed_blocks() > compressed_before) {
      AddName(CompressionName(reader->info().compression), totals.compressions);
    }
  }
  if (totals.compressions.empty() && totals.blocks.blocks > 0) {
    totals.compressions.push_back(CompressionName(Compression::kNone));
  }
  return totals;
}

Json Quotient(uint64_t part, uint64_t whole) {
  return Known(whole != 0, static_cast<double>(part) / static_cast<double>(whole));
}

std::string NamesText(const std::vector<std::string>& names) {
  return names.empty() ? "-" : absl::StrJoin(names, ",");
}

// "zstd", or "zstd 3/4" if only 3 of 4 blocks are compressed.
std::string CodecsText(const ColumnTotals& totals) {
  const uint64_t compressed = totals.blocks.compressed_blocks();
  std::string text = NamesText(totals.compressions);
  if (totals.complete() && compressed > 0 && compressed < totals.blocks.blocks) {
    absl::StrAppend(&text, " ", compressed, "/", totals.blocks.blocks);
  }
  return text;
}

// Adds the key columns. After the name of a nullable column, the text says where its nulls sort.
void AddKeys(const Schema& schema, const std::string& only_key, Document& document) {
  std::vector<std::string> texts;
  Table table(document.is_json());
  const auto add = [&](const std::string& name) {
    texts.push_back(Printable(name));
    return &table.Add({{"name", name}});
  };
  if (schema.key_index()) {
    const std::vector<KeyColumn> keys = schema.key_types();
    for (size_t i = 0; i < keys.size(); ++i) {
      Record* const record = add(schema.columns[schema.key_columns[i]].name);
      if (!keys[i].nullable) continue;
      const std::string place = keys[i].nulls_last ? "last" : "first";
      record->AddJson({{"nulls", place}});
      absl::StrAppend(&texts.back(), " (nulls ", place, ")");
    }
  } else if (!only_key.empty()) {
    add(only_key);
  }
  if (!texts.empty()) document.Add("keys", table, absl::StrJoin(texts, ", "));
}

struct Whole {
  uint64_t bytes = 0;
  bool lacks_files = false;
};

std::string PercentText(uint64_t bytes, const Whole& whole) {
  return whole.lacks_files || whole.bytes == 0
             ? "-"
             : absl::StrFormat("%.1f %%", 100.0 * static_cast<double>(bytes) /
                                              static_cast<double>(whole.bytes));
}

std::string RatioText(bool known, uint64_t decoded, uint64_t stored) {
  return known ? absl::StrFormat("%.2f", Ratio(decoded, stored)) : "-";
}

// Adds a line of the table: the cells that are not known, because some blocks could not be read,
// are "-", and in JSON null.
void AddColumn(const ColumnSchema& schema, const ColumnTotals& totals, const Whole& whole,
               Record& record) {
  const BlockTotals& blocks = totals.blocks;
  const bool known = totals.complete();
  record.Add("name", schema.name, Printable(schema.name) + (known ? "" : " (incomplete)"));
  record.AddBytes("type", schema.type.ToString());
  const bool has_nulls = schema.nullable || schema.has_levels();
  record.AddJson({{"nullable", has_nulls}});
  record.Add("encodings", blocks.EncodingNames(), NamesText(blocks.EncodingNames()));
  record.Add("compressions", totals.compressions, CodecsText(totals));
  record.AddJson({{"blocks", Known(known, blocks.blocks)},
                  {"compressed_blocks", Known(known, blocks.compressed_blocks())}});
  record.Add("size", Known(!totals.lacks_files, totals.file_bytes),
             totals.lacks_files ? "-" : std::to_string(totals.file_bytes));
  record.AddJson({{"stored", Known(known, blocks.stored_bytes)},
                  {"encoded", Known(known, blocks.encoded_bytes)},
                  {"decoded", Known(known, blocks.decoded_bytes)}});
  const Json share = Quotient(totals.file_bytes, whole.lacks_files ? 0 : whole.bytes);
  record.Add("share", Known(known, share), PercentText(totals.file_bytes, whole));
  record.Add("ratio", Known(known, Quotient(blocks.decoded_bytes, blocks.stored_bytes)),
             RatioText(known, blocks.decoded_bytes, blocks.stored_bytes));
  record.Add("nulls", Known(known, blocks.nulls),
             known && has_nulls ? std::to_string(blocks.nulls) : "-");
  record.AddBounds(schema.type, totals.bounds.complete ? totals.bounds.merged : BlockStatistics(),
                   /*max_bytes=*/28);
  if (schema.has_levels()) record.AddJson({{"levels", schema.levels}});
  record.AddError(blocks.status);
}

Outcome SummarizeTable(const CommonOptions& common, const TableReader& table, bool by_size,
                       SummaryProgress& progress, Output& output) {
  std::vector<ColumnSchema> schema = table.schema().columns;
  const std::optional<size_t> key_index = table.schema().key_index();
  if (key_index) schema.push_back({.name = kKeyIndexName, .type = ColumnType::Binary()});
  std::vector<ColumnTotals> all;
  absl::Status status;
  uint64_t blocks = 0, nulls = 0, stored = 0, decoded = 0;
  Whole whole;
  std::string key;  // the column that is a key alone
  progress.Begin(BytesOf(table));
  for (size_t column = 0; column < schema.size(); ++column) {
    ColumnTotals& totals = all.emplace_back(Measure(table, column, progress));
    // The bounds of compound keys are not shown: users cannot read these keys.
    if (column == key_index) totals.bounds.complete = false;
    status.Update(totals.blocks.status);
    if (totals.indexed && key.empty()) key = schema[column].name;
    blocks += totals.blocks.blocks;
    whole.bytes += totals.file_bytes;
    whole.lacks_files = whole.lacks_files || totals.lacks_files;
    nulls += totals.blocks.nulls;
    stored += totals.blocks.stored_bytes;
    decoded += totals.blocks.decoded_bytes;
  }
  progress.End();
  std::vector<size_t> order(schema.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (by_size) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return all[a].file_bytes > all[b].file_bytes; });
  }

  // How the table fits a narrow terminal: bounds are shortened first, then names and types, then
  // lists of encodings and of codecs. The share and the ratio are left out before the bounds.
  const TextColumn bound = {.shorten = 1, .least = 8, .drop = 3};
  Table columns(common.json,
                {{"column", {.shorten = 2, .least = 10, .cut = TextColumn::Cut::kMiddle}},
                 {"type", {.shorten = 2, .least = 8, .drop = 6}},
                 {"encoding", {.shorten = 3, .least = 12}},
                 {"codec", {.shorten = 3, .least = 5, .drop = 5}},
                 {"bytes", kNumberColumn},
                 {"share", {.right = true, .drop = 1}},
                 {"ratio", {.right = true, .drop = 2}},
                 {"nulls", {.right = true, .drop = 4}},
                 {"minimum", bound},
                 {"maximum", bound}});
  Record of_key_index(common.json);
  for (const size_t i : order) {
    Record& record = common.json && i == key_index ? of_key_index : columns.Add();
    AddColumn(schema[i], all[i], whole, record);
  }
  const bool known = status.ok();
  const std::string mark = known ? "" : " (incomplete)";
  Document document(common.json, common.path, 7);
  document.AddPath("table", common.path);
  const bool has_rule = table.schema().merge_rule.has_value();
  document.Add("rows", table.num_rows(), absl::StrCat(table.num_rows(), has_rule ? " stored" : ""));
  document.AddText("parts", std::to_string(table.num_parts()));
  document.AddText("blocks", std::to_string(blocks) + mark);
  if (common.json) {
    Table parts(common.json);
    for (size_t part = 0; part < table.num_parts(); ++part) {
      CFILE_ASSIGN_OR_RETURN(const auto info, table.part(part));
      parts.Add(
          {{"name", info.name}, {"first_ordinal", info.first_ordinal}, {"rows", info.num_rows}});
    }
    document.AddTable("parts", parts);
  } else {
    Record& total = columns.Add();
    for (const std::string& cell :
         {"total" + mark, std::string(), std::string(), std::string(), std::to_string(whole.bytes),
          PercentText(whole.bytes, whole), RatioText(known, decoded, stored),
          known ? std::to_string(nulls) : "-"}) {
      total.AddText("", cell);
    }
  }
  AddKeys(table.schema(), key, document);
  if (has_rule) document.Add("merge", MergeRuleJson(table), MergeRuleText(table));
  document.AddJson({{"size", Known(!whole.lacks_files, whole.bytes)},
                    {"nulls", Known(known, nulls)},
                    {"ratio", Known(known, Quotient(decoded, stored))}});
  document.Append("\n");
  document.AddTable("columns", columns);
  if (key_index) document.AddJson({{"key_index", of_key_index}});
  document.AddError(status);
  document.PrintTo(output);
  return status;
}

Outcome SummarizeFile(const CommonOptions& common, const Reader& reader, SummaryProgress& progress,
                      Output& output) {
  BlockTotals blocks;
  progress.Begin(reader.info().file_size_bytes);
  progress.BeginFile(reader);
  blocks.Add(reader);
  progress.End();
  Document facts(common.json, common.path, 18);
  facts.AddPath("file", common.path);
  const absl::Status status = AddFileFacts(reader, blocks, facts);
  facts.AddError(status);
  facts.PrintTo(output);
  return status;
}

}  // namespace

absl::StatusOr<std::string> SchemaText(const Input& input, const std::string& path) {
  if (!input.table) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a single column of type ",
                                                   input.file->type().ToString(),
                                                   ": only tables have a schema"));
  }
  const TableReader& table = *input.table;
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema, table.schema().Records(table.record_limits()));
  return TerminalSafeLines(schema.ToString() + MergeRuleLines(table.schema()));
}

Outcome PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output) {
  if (options.schema) {
    CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(common));
    CFILE_ASSIGN_OR_RETURN(const std::string schema, SchemaText(input, common.path));
    Document document(common.json, common.path);
    document.AddJson({{"schema", schema}});
    document.Append(schema);
    document.PrintTo(output, /*indent=*/-1);
    return kFine;
  }
  SummaryProgress progress;
  if (!common.column.empty() || !common.part.empty()) {
    return OnEachFile([&progress](const CommonOptions& chosen, Output& to) -> Outcome {
      CFILE_ASSIGN_OR_RETURN(const Reader reader,
                             OpenFileAt(chosen.path, OptionsOf(chosen), progress.observer()));
      return SummarizeFile(chosen, reader, progress, to);
    })(common, output);
  }
  CFILE_ASSIGN_OR_RETURN(const auto input, OpenInput(common, progress.observer()));
  return input.file
             ? SummarizeFile(common, *input.file, progress, output)
             : SummarizeTable(common, *input.table, options.order == "size", progress, output);
}

void AddSummaryOptions(Command& command, SummaryOptions& options) {
  command.Add("--sort ORDER:{schema,size}", &options.order,
              "Order of a table's columns: schema (default), or size, the largest first",
              OneOf({"schema", "size"}));
  command.Add("--schema", &options.schema,
              "Print the schema of a table instead, as cfile-import --schema takes it");
}

void AddSummaryCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "summary", "Print what a file or a table holds, on one screen (the default)",
      "stored is the size of the data blocks in the file, encoded the size before compression,\n"
      "decoded the size of the values in memory without nulls. A ratio is decoded / stored; JSON\n"
      "of a file also has encoded_ratio: encoded / stored. Of a table, share is the part of the\n"
      "table's bytes, and zstd 3/4 says that 3 of 4 blocks are compressed. minimum and maximum\n"
      "are bounds; long bounds are cut. A table with compound keys has a line for its key index.\n"
      "In JSON, null stands for what is not known, such as totals if a block is damaged. On a\n"
      "terminal, long names are shortened to its width.\n\n"
      "Examples:\n"
      "  cfile-dump summary keys.cfile\n"
      "  cfile-dump summary --sort size flights\n"
      "  cfile-dump summary --json flights | jq -r '.columns[].name'");
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  const auto options = std::make_shared<SummaryOptions>();
  AddSummaryOptions(command, *options);
  SetAction(command, action, With(options, PrintSummary));
}

}  // namespace cfile::tools
