#include "tools/key_text.h"

#include <type_traits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/command.h"
#include "tools/output.h"

namespace cfile::tools {

absl::StatusOr<CompoundKey> ParseCompoundKey(const std::vector<KeyColumn>& columns,
                                             const std::vector<std::string>& texts) {
  if (texts.size() > columns.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the table is sorted by ",
                                                   Plural(columns.size(), "column"),
                                                   ", so expected at most as many KEYs"));
  }
  CompoundKey key(columns);
  std::string scratch;
  for (size_t i = 0; i < texts.size(); ++i) {
    const ColumnType& type = columns[i].type;
    if (columns[i].nullable && texts[i] == "null") {
      key.AddNull();
      continue;
    }
    const std::string text = columns[i].nullable && texts[i] == "\"null\"" ? "null" : texts[i];
    const absl::Status status = VisitType(type, [&]<typename T>(std::type_identity<T>) {
      const auto value = ParseKey<T>(type, text, scratch);
      if (value.ok()) key.Add<T>(*value);
      return value.status();
    });
    if (!status.ok()) return status;
  }
  return key;
}

absl::StatusOr<std::vector<size_t>> SortColumnsOf(const TableReader& table) {
  std::vector<size_t> columns = table.schema().key_columns;
  for (size_t i = 0; columns.empty() && i < table.schema().columns.size(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const bool has_index, table.has_value_index(i));
    if (has_index) columns.push_back(i);
  }
  return columns;
}

absl::StatusOr<size_t> ChosenPart(const TableReader& table, const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(text, &number) && number < table.num_parts()) return number;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no part ", text, ": ", table.directory(), " has ",
                     Plural(table.num_parts(), "part"), ", counted from 0"));
  }
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, table.part(i));
    if (part.name == text) return i;
    if (part.name.starts_with(text)) found.push_back(i);
    names.push_back(part.name);
  }
  if (found.size() == 1) return found[0];
  if (!found.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(table.directory(), ": the names of ",
                                                   found.size(), " parts begin with ", text));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      table.directory(), ": no part has a name that begins with ", text, Suggestion(text, names)));
}

}  // namespace cfile::tools
