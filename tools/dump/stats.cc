// cfile-dump stats: the statistics of a file and of its blocks.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/dump/bounds.h"
#include "tools/dump/dump.h"
#include "tools/location.h"
#include "tools/text_table.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

constexpr size_t kStatisticBytes = 28;
constexpr size_t kStatisticCells = kStatisticBytes + 3;  // with "..."

Json ToJson(const BlockStatistics& statistics, const BoundTexts& bounds) {
  return {{"present", JsonInteger(statistics.present_count)},
          {"nulls", JsonInteger(statistics.null_count)},
          {"nan", JsonInteger(statistics.nan_count)},
          {"minimum", JsonBound(bounds.min, statistics.min_exact)},
          {"maximum", JsonBound(bounds.max, statistics.max_exact)}};
}

void AppendLine(const TextLines& form, std::string name, const BlockStatistics& statistics,
                const BoundTexts& bounds, std::string& out) {
  const std::string cells[] = {std::move(name),
                               std::to_string(statistics.present_count),
                               std::to_string(statistics.null_count),
                               std::to_string(statistics.nan_count),
                               BoundInLine(bounds.min, kStatisticBytes),
                               BoundInLine(bounds.max, kStatisticBytes)};
  form.Append(cells, out);
}

// Asks the Bloom filter for the value whose text is `text`.
absl::StatusOr<bool> MightContain(const Reader& reader, const FileStatistics& statistics,
                                  const std::string& text) {
  return VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<bool> {
    std::string scratch;
    const auto value = ParseText<T>(reader.type(), text, scratch);
    if (!value.ok()) return value.status();
    return statistics.MightContain(*value);
  });
}

ExitCode PrintStatistics(const std::optional<std::string>& probe, const CommonOptions& common,
                         Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  const auto read = reader->Statistics();
  if (!read.ok()) return output.Fail(read.status());
  if (*read == nullptr && reader->info().statistics) {
    return output.Fail(absl::OutOfRangeError(
        absl::StrCat(common.path, ": the statistics of ", reader->info().statistics->size,
                     " bytes are above the limit of ", common.max_bloom_filter_bytes,
                     ": raise max_bloom_filter_bytes")));
  }
  Json json = JsonDocument(common.path);
  if (probe) {
    if (*read == nullptr || (*read)->bloom_filter.empty()) {
      return output.Fail(
          absl::FailedPreconditionError(common.path + ": the file has no Bloom filter"));
    }
    const auto found = MightContain(*reader, **read, *probe);
    if (!found.ok()) return output.Fail(found.status());
    json["value"] = JsonBytes(*probe);
    json["may_be_present"] = *found;
    output.text += common.json ? json.dump(2) + "\n"
                   : *found    ? "the Bloom filter says: may be present\n"
                               : "the Bloom filter says: not present\n";
    return output.Finish(kFine);
  }
  if (*read == nullptr) {
    json["file"] = nullptr;
    output.text += common.json ? json.dump(2) + "\n" : "no statistics\n";
    return output.Finish(kFine);
  }
  const FileStatistics& statistics = **read;
  const BoundTexts of_file = TextOfBounds(reader->type(), statistics.file);
  if (common.json) {
    json["file"] = ToJson(statistics.file, of_file);
    Json& blocks = json["blocks"] = Json::array();
    for (const BlockStatistics& block : statistics.blocks) {
      blocks.push_back(ToJson(block, TextOfBounds(reader->type(), block)));
    }
    absl::StrAppend(&output.text, json.dump(2), "\n");
    return output.Finish(kFine);
  }
  const TextColumn number = {.right = true}, bound = {.shorten = 1};
  const TextLines form(
      {number, number, {.right = true, .drop = 2}, {.right = true, .drop = 1}, bound, bound},
      {9, 12, 12, 9, kStatisticCells, kStatisticCells}, OutputWidth());
  const std::string names[] = {"block", "present", "nulls", "nan", "minimum", "maximum"};
  form.Append(names, output.text);
  AppendLine(form, "file", statistics.file, of_file, output.text);
  for (size_t i = 0; i < statistics.blocks.size(); ++i) {
    AppendLine(form, std::to_string(i), statistics.blocks[i],
               TextOfBounds(reader->type(), statistics.blocks[i]), output.text);
    if (!output.Drain()) break;
  }
  form.AppendNote(output.text);
  return output.Finish(kFine);
}

}  // namespace

void AddStatsCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "stats", "Print the statistics of a file and of its blocks, or its dictionary",
      "Readers use these statistics to skip blocks. minimum and maximum are bounds: long strings\n"
      "are cut, and --json then says that exact is false. --probe asks the Bloom filter of the\n"
      "file whether it may have a value.\n\n"
      "The data blocks of an encoding with a dictionary store codes instead of values. "
      "--dictionary\n"
      "prints the values in the order in which they first occur in the column. The dictionary of\n"
      "some encodings consists of symbols instead: short texts of which the values are made.\n\n"
      "Examples:\n"
      "  cfile-dump stats flights --column dep_delay\n"
      "  cfile-dump stats --json keys.cfile | jq '.blocks[] | select(.nulls > 0)'\n"
      "  cfile-dump stats --probe N14228 flights --column tailnum\n"
      "  cfile-dump stats --dictionary flights --column carrier");
  command.aliases = {{.word = "dictionary", .options = {"--dictionary"}}};
  AddIgnoreChecksumsOption(command, common);
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  const auto probe = std::make_shared<std::optional<std::string>>();
  const auto dictionary = std::make_shared<bool>(false);
  command.Add("--probe VALUE", probe.get(), "A value to look up in the Bloom filter");
  command.Add("--dictionary", dictionary.get(), "Print the dictionary with its codes").excludes = {
      "--probe"};
  SetAction(command, action, OnEachFile([=](const CommonOptions& chosen, Output& output) {
              return *dictionary ? PrintDictionary(chosen, output)
                                 : PrintStatistics(*probe, chosen, output);
            }));
}

}  // namespace cfile::tools
