// cfile-dump without a subcommand: the summary of a file or a table.
#include "tools/dump/summary.h"

#include <memory>
#include <string>

#include "tools/dump/commands.h"
#include "tools/location.h"

namespace cfile::tools {

ExitCode PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output) {
  if (!common.column.empty()) {
    const auto file = [](const CommonOptions& chosen, Output& to) {
      const auto reader = OpenFileAt(chosen.path, OptionsOf(chosen));
      return reader.ok() ? SummarizeFile(chosen, *reader, to) : to.Fail(reader.status());
    };
    return OnEachFile(file)(common, output);
  }
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  return input->file ? SummarizeFile(common, *input->file, output)
                     : SummarizeTable(common, *input->table, options.by_size, output);
}

void AddSummaryOptions(CLI::App& command, SummaryOptions& options) {
  command.add_option_function<std::string>(
             "--sort",
             [&options](const std::string& order) { options.by_size = order == "size"; },
             "Order of a table's columns: schema (default), or size, the largest first")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"schema", "size"}));
}

void AddSummaryCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "summary", "Print what a file or a table holds, on one screen (the default)",
      "stored is the size of the data blocks in the file, encoded the size before compression,\n"
      "decoded the size of the values in memory without nulls. A ratio is decoded / stored. Of a\n"
      "table, share is the part of the table's bytes. minimum and maximum are bounds; a long\n"
      "one is cut. On a terminal, long names are shortened to its width.\n\n"
      "Examples:\n"
      "  cfile-dump summary keys.cfile\n"
      "  cfile-dump summary --sort size flights\n"
      "  cfile-dump summary --json flights | jq -r '.columns[].name'");
  AddIgnoreChecksumsOption(*command, common);
  AddColumnOptions(*command, common, kOneColumn, kAllParts);
  const auto options = std::make_shared<SummaryOptions>();
  AddSummaryOptions(*command, *options);
  command->callback([&action, options] {
    action = [options](const CommonOptions& chosen, Output& output) {
      return PrintSummary(*options, chosen, output);
    };
  });
}

}  // namespace cfile::tools
