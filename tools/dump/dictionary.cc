// The values of a file's dictionary.
#include "tools/dump/commands.h"

#include <string>
#include <type_traits>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/column_text.h"
#include "tools/location.h"

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

}  // namespace

Outcome PrintDictionary(const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  return VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) {
    return PrintValues<T>(reader, common, output);
  });
}

}  // namespace cfile::tools
