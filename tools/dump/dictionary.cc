// The values of a file's dictionary.
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

}  // namespace

ExitCode PrintDictionary(const CommonOptions& common, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  return VisitType(reader->type(), [&]<typename T>(std::type_identity<T>) {
    return PrintValues<T>(*reader, common, output);
  });
}

}  // namespace cfile::tools
