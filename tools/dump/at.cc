// cfile-dump at: the value at an ordinal.
#include "tools/dump/commands.h"

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/dump/rows.h"

namespace cfile::tools {
namespace {

ExitCode PrintAt(uint64_t ordinal, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  const uint64_t num_rows = input->num_rows();
  if (ordinal >= num_rows) {
    return output.Fail(
        absl::OutOfRangeError(absl::StrCat("there is no row ", ordinal, ": ", common.path, " has ",
                                           Plural(num_rows, "row"), ", counted from 0")));
  }
  return PrintRows(*input, common, {}, ordinal, 1, output);
}

}  // namespace

void AddAtCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command =
      AddCommand(app, common, "at", "Print the value at an ordinal, or the row of a table",
                 "Prints the same as `cfile-dump values --ordinal N --count 1`.\n\n"
                 "Example:\n  cfile-dump at keys.cfile 123456");
  AddIgnoreChecksumsOption(*command, common);
  AddColumnOptions(*command, common, kOneColumn, kAllParts);
  auto ordinal = std::make_shared<uint64_t>();
  command->add_option("N", *ordinal, "The ordinal; the first value has ordinal 0")
      ->required()
      ->type_name("")
      ->check(NumberIn(0, UINT64_MAX));
  command->callback([&action, ordinal] {
    action = [ordinal](const CommonOptions& chosen, Output& output) {
      return PrintAt(*ordinal, chosen, output);
    };
  });
}

}  // namespace cfile::tools
