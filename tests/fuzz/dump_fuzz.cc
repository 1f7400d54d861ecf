// Each input is a file or a table with changed blocks and right checksums. A subcommand of
// cfile-dump prints the input.
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "tests/fuzz/record_tables.h"
#include "tests/fuzz/seed_files.h"
#include "tools/dump/commands.h"

namespace cfile::fuzz {
namespace {

struct Command {
  tools::CommonOptions common;
  tools::Action action = [](const tools::CommonOptions& options, tools::Output& to) {
    return tools::PrintSummary(tools::SummaryOptions(), options, to);
  };
};

// Parses the command lines. Called only once, because parsing takes far longer than printing a
// small file.
std::vector<Command> Understand(const std::vector<std::string>& lines) {
  std::vector<Command> commands;
  for (const std::string& line : lines) {
    Command& command = commands.emplace_back();
    tools::Command tool{.name = "cfile-dump", .description = ""};
    tool.Add("FILE", &command.common.path, "");
    for (const auto add :
         {tools::AddBlocksCommand, tools::AddHexdumpCommand, tools::AddIndexCommand,
          tools::AddStatsCommand, tools::AddRowsCommand, tools::AddCountCommand,
          tools::AddFindCommand, tools::AddExplainCommand, tools::AddVerifyCommand,
          tools::AddSalvageCommand, tools::AddWhatIfCommand, tools::AddDiffCommand})
      add(tool, command.common, command.action);
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> std::quoted(word, '\'');) arguments.push_back(word);
    Expect(tools::Parse(tool, arguments).error.empty());
  }
  return commands;
}

// Runs one of the commands. The input's bytes determine the command, so that the same input always
// has the same command.
void Show(std::span<const uint8_t> bytes, const std::vector<Command>& commands) {
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  Expect(silent);
  const size_t choice = std::hash<std::string_view>()(encodings::AsString(bytes));
  auto [common, action] = commands[choice % commands.size()];
  common.json = choice / commands.size() % 2 == 0;
  tools::Output output(tools::kToolName);
  Expect(output.Finish(action(common, output)) != tools::kIoError);
}

void DumpFile(std::span<const uint8_t> bytes) {
  const Place place;
  place.WriteInput(bytes);
  const std::string file = place.input.string();
  static const std::vector<Command> commands = Understand({
      file,
      "hexdump --header " + file,
      "hexdump --footer " + file,
      "blocks " + file,
      "blocks " + file + " --block 0",
      "blocks --ignore-checksums --ordinal 7 " + file,
      "hexdump " + file,
      "hexdump --ignore-checksums --bytes 1 " + file,
      "index " + file,
      "stats --dictionary " + file,
      "stats " + file,
      "stats --probe 7 " + file,
      "whatif --sample-bytes 1000 " + file,
      "diff " + file + " " + file,
      "rows --limit 1000 " + file,
      "rows --tail 3 --format csv " + file,
      "rows --sample 3 --format jsonl " + file,
      "find --explain " + file + " 7",
      "rows --explain " + file + " --row 7",
      "explain --where 'value > 7' " + file,
      "rows --skip-damaged " + file,
      "find " + file + " 7",
      "verify " + file,
      "rows --where 'value > 7' " + file,
      "rows --where 'value is null' " + file,
      "salvage " + file + " " + file + ".salvaged",
  });
  Show(bytes, commands);
}

void DumpTable(std::span<const uint8_t> bytes) {
  const Place place;
  if (!WriteTable(SplitLeaves(bytes), place.directory)) return;
  const std::string table = place.directory.string();
  static const std::vector<Command> commands = Understand({
      table,
      "rows --format jsonl " + table,
      "rows --format jsonl --ordinal 2 --columns r.b,id " + table,
      "verify " + table,
      "rows --columns id,name " + table,
      "explain --where 'id > 1' " + table,
      "rows --skip-damaged " + table,
      "count --by id " + table,
      "rows --format jsonl --tail 2 " + table,
      "whatif --sample-bytes 1000 " + table,
      "diff " + table + " " + table,
      "rows --columns name --where 'id > 1' " + table,
      "rows --columns id --where 'name begins a' " + table,
      "rows --columns id --where 'name is not null and id > 1' " + table,
  });
  Show(bytes, commands);
}

}  // namespace

std::vector<Target> Targets() {
  return {{"cfile-dump", DumpFile, SeedFiles, MutateFile},
          {"cfile-dump-table", DumpTable, RecordTableSeeds, MutateLeaf}};
}

}  // namespace cfile::fuzz
