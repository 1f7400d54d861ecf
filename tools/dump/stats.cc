// cfile-dump stats: the statistics of a file and of its blocks.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/column_text.h"
#include "tools/location.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

template <typename T>
Outcome PrintValues(const Reader& reader, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto values, ReadDictionary<T>(reader));
  Document document(common.json, common.path);
  if (!reader.info().dictionary) document.Append("no dictionary\n");
  std::vector<Heading> headings;
  // On a terminal, values are shortened to the rest of the line.
  if (!values.empty()) {
    headings = {{"code", kNumberColumn, 9}, {"value", {.shorten = 1}, OutputWidth().value_or(0)}};
  }
  List list(document, "dictionary", headings, output);
  uint64_t code = 0;
  for (const auto& value : values) {
    Record record(common.json);
    record.Add("code", code++);
    std::string text;
    if (!common.json) AppendValue<T>(reader.type(), value, Form::kText, text);
    record.Add("value", JsonValue<T>(reader.type(), value), text);
    list.Add(record);
    if (!output.Drain()) break;
  }
  list.Finish(absl::OkStatus());
  return kFine;
}

Outcome PrintDictionary(const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  return VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) {
    return PrintValues<T>(reader, common, output);
  });
}

constexpr size_t kStatisticBytes = 28;
constexpr size_t kStatisticCells = kStatisticBytes + 3;  // with "..."

// `name`: the number of a block, or "file". JSON does not have it.
Record RecordOf(const std::string& name, const ColumnType& type, const BlockStatistics& statistics,
                bool json) {
  Record record(json);
  record.AddText("block", name);
  record.Add("present", statistics.present_count);
  record.Add("nulls", statistics.null_count);
  record.Add("nan", statistics.nan_count);
  record.AddBounds(type, statistics, kStatisticBytes);
  return record;
}

// Asks the Bloom filter for the value whose text is `text`.
absl::StatusOr<bool> MightContain(const Reader& reader, const FileStatistics& statistics,
                                  const std::string& text) {
  return VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<bool> {
    std::string scratch;
    CFILE_ASSIGN_OR_RETURN(const auto value, ParseText<T>(reader.type(), text, scratch));
    return statistics.MightContain(value);
  });
}

Outcome PrintStatistics(const std::optional<std::string>& probe, const CommonOptions& common,
                        Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  CFILE_ASSIGN_OR_RETURN(const auto read, reader.Statistics());
  if (read == nullptr && reader.info().statistics) {
    return absl::OutOfRangeError(
        absl::StrCat(common.path, ": the statistics of ", reader.info().statistics->size,
                     " bytes are above the limit of ", common.limits.max_bloom_filter_bytes,
                     ": raise max_bloom_filter_bytes"));
  }
  Document document(common.json, common.path);
  if (probe) {
    if (read == nullptr || (read)->bloom_filter.empty()) {
      return absl::FailedPreconditionError(common.path + ": the file has no Bloom filter");
    }
    CFILE_ASSIGN_OR_RETURN(const auto found, MightContain(reader, *read, *probe));
    document.AddJson({{"value", *probe}, {"may_be_present", found}});
    document.Append(found ? "the Bloom filter says: may be present\n"
                          : "the Bloom filter says: not present\n");
  } else if (read == nullptr) {
    document.AddJson({{"file", nullptr}});
    document.Append("no statistics\n");
  } else {
    const FileStatistics& statistics = *read;
    const auto record = [&](const std::string& name, const BlockStatistics& of) {
      return RecordOf(name, reader.type(), of, common.json);
    };
    const Record file = record("file", statistics.file);
    document.AddJson({{"file", file}});
    List list(document, "blocks",
              {{"block", kNumberColumn, 9},
               {"present", kNumberColumn, 12},
               {"nulls", {.right = true, .drop = 2}, 12},
               {"nan", {.right = true, .drop = 1}, 9},
               {"minimum", {.shorten = 1}, kStatisticCells},
               {"maximum", {.shorten = 1}, kStatisticCells}},
              output);
    if (!common.json) list.Add(file);
    for (size_t i = 0; i < statistics.blocks.size() && output.Drain(); ++i) {
      list.Add(record(std::to_string(i), statistics.blocks[i]));
    }
    list.Finish(absl::OkStatus());
    return kFine;
  }
  document.PrintTo(output);
  return kFine;
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
