// cfile-dump whatif: tries every encoding with every codec on a column.
#include "tools/dump/commands.h"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "tools/columns/column_trials.h"
#include "tools/dump/totals.h"
#include "tools/encoding_reason.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

struct WhatIfArguments {
  TrialOptions trials;
  bool recommend = false;
};

std::vector<std::string> NotBuiltIn() {
  std::vector<std::string> names;
  for (const Compression codec : AllCompressions()) {
    if (!CheckCompressionBuiltIn(codec).ok()) names.push_back(CompressionName(codec));
  }
  return names;
}

// The options of cfile-import for all columns, for each goal.
class Recommendations {
 public:
  void Add(const ColumnTrials& trials) {
    if (trials.sample->num_present == 0)
      AddNote(trials.column, "no values, so nothing is recommended");
    for (size_t i = 0; i < std::size(kGoals); ++i) {
      const FormTrial* best =
          Recommend(trials.trials, kGoals[i].goal, trials.sample->decoded_bytes);
      if (best == nullptr) continue;
      absl::StrAppend(&options_[i], options_[i].empty() ? "" : " ",
                      ImportOptionsOf(trials.column, best->form));
    }
  }
  void AddNote(const StoredColumn& column, const std::string& text) {
    absl::StrAppend(&notes_, "# ", Printable(column.schema.name), ": ", text, "\n");
  }
  std::string Text() const {
    std::string text = notes_;
    for (size_t i = 0; i < std::size(kGoals); ++i) {
      absl::StrAppend(&text, "# ", std::string(kGoals[i].name), "\n", options_[i], "\n");
    }
    return text;
  }

 private:
  std::string notes_;  // a line for each column that has no values or cannot be read
  std::string options_[std::size(kGoals)];
};

Outcome RunWhatIf(const WhatIfArguments& arguments, const CommonOptions& common, Output& output) {
  CommonOptions all_columns = common;
  all_columns.column.clear();
  CFILE_ASSIGN_OR_RETURN(const auto input, OpenInput(all_columns));
  if (input.file) CFILE_RETURN_IF_ERROR(CheckNoColumn(common));
  CFILE_ASSIGN_OR_RETURN(const auto columns, ColumnsOf(input, common.column));
  Progress progress;
  Recommendations recommendations;
  Json list = Json::array();
  bool any_table = false, any_measured = false;
  ExitCode code = kFine;       // of the failures that were printed
  absl::Status first_failure;  // after a failure, the command goes on with the next column
  for (const StoredColumn& column : columns) {
    absl::StatusOr<ColumnTrials> trials = TryAll(column, common, arguments.trials, progress);
    if (absl::IsCancelled(trials.status())) return trials.status();
    if (!trials.ok()) {
      first_failure.Update(trials.status());
      if (common.json) {
        list.push_back(
            JsonObject({{"name", column.schema.name}, {"error", MessageOf(trials.status())}}));
      } else if (arguments.recommend) {
        recommendations.AddNote(column, TerminalSafe(MessageOf(trials.status())));
      } else {
        code = Worse(code, output.Fail(trials.status()));
      }
      continue;
    }
    if (arguments.recommend && !common.json) {
      recommendations.Add(*trials);
      continue;
    }
    any_measured = any_measured || trials->sample->num_present > 0;
    const Document document = DocumentOf(*trials, arguments.trials, common.json);
    list.push_back(document.json());
    if (std::exchange(any_table, true) && !common.json) output.text += '\n';
    output.text += document.text();
    output.Flush();
  }
  Document document(common.json, common.path);
  document.AddJson({{"columns", list}, {"not_built_in", NotBuiltIn()}});
  if (arguments.recommend) {
    document.Append(recommendations.Text());
  } else if (any_measured) {
    document.AddLine("\nSpeeds were measured on this machine, in memory, with one thread.");
    if (const auto names = NotBuiltIn(); !names.empty()) {
      document.AddLine("This build lacks ", absl::StrJoin(names, ", "), ".");
    }
  }
  document.PrintTo(output);
  if (first_failure.ok() || code != kFine) return code;
  return first_failure;
}

}  // namespace

void AddWhatIfCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "whatif", "Try every encoding with every codec on a column",
      "Writes the column, or a sample of it, into memory in each form that its type allows, reads\n"
      "it again, and prints the sizes and the speeds:\n"
      "  bytes       of a file with these rows: blocks, indexes, header and footer\n"
      "  bits/value  per row; in a column with levels, per entry\n"
      "  ratio       to the smallest file\n"
      "  Mvalue/s    million values in a second, and MB/s: million bytes of decoded\n"
      "              values in a second; a string counts as its bytes and 16 more\n"
      "The speeds are measured while the command runs, with one thread, and differ from run to\n"
      "run. Blocks have the default size. Codecs have their default levels; automatic choice may\n"
      "use another level of zstd.\n"
      "'<- file' marks the form of most bytes of the file (of its first 64 blocks; of a table, in\n"
      "the first part). '<- automatic' marks what `--encoding auto` chooses for the sample. If "
      "the\n"
      "file records why its encoding was chosen for this goal, the reason comes from the file.\n"
      "Otherwise it is found again.\n"
      "A sample has up to 16 ranges of rows, spread evenly. Each range begins with a block.\n"
      "A decode speed '-' means that nothing is decoded: the values are read where they are in\n"
      "the block.\n\n"
      "--recommend prints a line of options of cfile-import for each of the goals size, balanced\n"
      "and speed, after a comment with the goal. In the options, the column of a file is called\n"
      "value. The options name the form that is read fastest, of the forms that are at most 2 %,\n"
      "10 % or 100 % larger than the smallest form: the factors of automatic choice.\n"
      "Forms that are read slower than 0.25, 1.5 and 6 GB/s do not count, unless they have half\n"
      "of the speed of the fastest form.\n\n"
      "Examples:\n"
      "  cfile-dump whatif keys.cfile\n"
      "  cfile-dump whatif flights --column carrier --sort decode\n"
      "  cfile-dump whatif flights --recommend\n"
      "  cfile-dump whatif flights --column carrier --sample-bytes 1MiB --json");
  const auto arguments = std::make_shared<WhatIfArguments>();
  AddColumnOptions(command, common, "The column of a table (default: each column)", kAllParts);
  command.Add("--sample-bytes BYTES", &arguments->trials.sample_bytes,
              "Decoded bytes of the sample of each column (default: 16MiB)",
              BytesIn(1, kMaxIndexBytes));
  command.Add("--sort ORDER", &arguments->trials.sort, "By size (default), decode or encode speed",
              OneOf({"size", "decode", "encode"}));
  command.Add("--for GOAL", &arguments->trials.goal,
              "The goal of automatic choice: size, speed or balanced (default)",
              OneOf({"balanced", "size", "speed"}));
  command.Add("--recommend", &arguments->recommend,
              "Print only options for cfile-import, for each of three goals");
  SetAction(command, action, With(arguments, RunWhatIf));
}

}  // namespace cfile::tools
