// cfile-dump without a subcommand: the summary of a file or a table.
#include "tools/dump/summary.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tools/dump/commands.h"
#include "tools/dump/totals.h"
#include "tools/location.h"
#include "tools/utf8.h"

namespace cfile::tools {

SummaryProgress::SummaryProgress() { progress_.Begin("opening", 0); }

ReadObserver SummaryProgress::observer() {
  return [this](const std::string&, const ObservedRead& read) {
    if (ended_) return;
    read_bytes_ += read.size_bytes;
    // No signal is caught, so there is no error.
    progress_.Update(done_bytes_ + std::min(read_bytes_ / passes_, file_bytes_), 0).IgnoreError();
  };
}

void SummaryProgress::Begin(uint64_t total_bytes) {
  done_bytes_ = file_bytes_ = 0;
  ended_ = false;
  progress_.Begin("reading", total_bytes);
}

void SummaryProgress::BeginFile(const Reader& reader) {
  done_bytes_ += file_bytes_;
  file_bytes_ = reader.info().file_size_bytes;
  passes_ = BlockTotals::ReadsTwice(reader) ? 2 : 1;
  read_bytes_ = 0;
}

void SummaryProgress::End() {
  progress_.End();
  ended_ = true;
}

absl::StatusOr<std::string> SchemaText(const Input& input, const std::string& path) {
  if (!input.table) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a single column of type ",
                                                   input.file->type().ToString(),
                                                   ": only tables have a schema"));
  }
  CFILE_ASSIGN_OR_RETURN(const RecordReader reader, RecordReader::Open(*input.table));
  return TerminalSafeLines(reader.schema().ToString());
}

namespace {

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

Outcome PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output) {
  if (options.schema) {
    CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(common));
    CFILE_ASSIGN_OR_RETURN(const std::string schema, SchemaText(input, common.path));
    Document document(common.json, common.path);
    document.AddJson("schema", schema);
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
