// cfile-dump at: the value at an ordinal.
#include "tools/dump/commands.h"

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/dump/explain_reads.h"
#include "tools/dump/rows.h"

namespace cfile::tools {
namespace {

struct AtOptions {
  uint64_t ordinal = 0;
  bool explain = false;
};

ExitCode PrintAt(const AtOptions& options, const CommonOptions& common, Output& output) {
  const uint64_t ordinal = options.ordinal;
  ReadLog log;
  const auto input = OpenInput(common, options.explain ? log.observer() : nullptr);
  if (!input.ok()) return output.Fail(input.status());
  const uint64_t num_rows = input->num_rows();
  if (ordinal >= num_rows) {
    return output.Fail(absl::InvalidArgumentError(
        absl::StrCat("there is no row ", ordinal, ": ", common.path, " has ",
                     Plural(num_rows, "row"), ", counted from 0")));
  }
  const absl::Status status =
      AppendRows(*input, common, {}, {.ordinal = ordinal, .count = 1}, kRowFormats[0], output);
  if (!status.ok()) return output.Fail(status);
  if (options.explain) {
    const absl::Status explained =
        AppendExplanation(*input, common, log, {.ordinal = ordinal}, output.text);
    if (!explained.ok()) return output.Fail(explained);
  }
  return output.Finish(kFine);
}

}  // namespace

void AddAtCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command =
      AddCommand(app, common, "at", "Print the value at an ordinal, or the row of a table",
                 "Prints the same as `cfile-dump values --ordinal N --count 1`.\n\n"
                 "Examples:\n"
                 "  cfile-dump at keys.cfile 123456\n"
                 "  cfile-dump at --explain flights 123456    # what was read");
  AddIgnoreChecksumsOption(command, common);
  AddColumnOptions(command, common, kOneColumn, kPartOfColumn);
  auto options = std::make_shared<AtOptions>();
  AddExplainOption(command, options->explain);
  command
      .Add("N", &options->ordinal, "The ordinal; the first value has ordinal 0",
           NumberIn(0, UINT64_MAX))
      .required = true;
  SetAction(command, action, [options](const CommonOptions& chosen, Output& output) {
    return PrintAt(*options, chosen, output);
  });
}

}  // namespace cfile::tools
