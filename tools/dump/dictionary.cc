// cfile-dump dictionary: the values of a file's dictionary.
#include "tools/dump/commands.h"

#include <optional>
#include <string>
#include <type_traits>

#include "cfile/inspect.h"
#include "tools/dump/column_text.h"
#include "tools/dump/dump.h"
#include "tools/location.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

template <typename T>
ExitCode PrintValues(const Reader& reader, const CommonOptions& common, Output& output) {
  const auto values = ReadDictionary<T>(reader);
  if (!values.ok()) return output.Fail(values.status());
  std::optional<JsonList> list;
  if (common.json) list.emplace(common.path, "dictionary", output);
  if (!common.json && !reader.info().dictionary) output.text += "no dictionary\n";
  constexpr size_t kCodeCells = 9;
  // On a terminal, values are shortened to the rest of the line.
  const std::optional<size_t> width = OutputWidth();
  const TextLines form({{.right = true}, {.shorten = 1}}, {kCodeCells, width.value_or(0)}, width);
  const std::string names[] = {"code", "value"};
  if (!common.json && !values->empty()) form.Append(names, output.text);
  uint64_t code = 0;
  for (const auto& value : *values) {
    if (list) {
      list->Add({{"code", JsonInteger(code)}, {"value", JsonValue<T>(reader.type(), value)}});
    } else {
      std::string text;
      AppendValue<T>(reader.type(), value, Form::kText, text);
      const std::string cells[] = {std::to_string(code), text};
      form.Append(cells, output.text);
    }
    ++code;
    if (!output.Drain()) break;
  }
  if (list) list->Finish(absl::OkStatus());
  return output.Finish(kFine);
}

ExitCode PrintDictionary(const CommonOptions& common, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  return VisitType(reader->type(), [&]<typename T>(std::type_identity<T>) {
    return PrintValues<T>(*reader, common, output);
  });
}

}  // namespace

void AddDictionaryCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "dictionary", "Print the values of the dictionary with their codes",
      "The data blocks of an encoding with a dictionary store codes instead of values. The values\n"
      "have the order in which they first occur in the column. The dictionary of some encodings\n"
      "consists of symbols instead: short texts of which the values are made.\n\n"
      "Examples:\n"
      "  cfile-dump dictionary flights --column carrier\n"
      "  cfile-dump dictionary --json keys.cfile | jq '.dictionary | length'");
  AddIgnoreChecksumsOption(command, common);
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  SetAction(command, action, OnEachFile(PrintDictionary));
}

}  // namespace cfile::tools
